module github.com/defendableos/referee

go 1.26.8
