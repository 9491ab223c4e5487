package zz
import ("testing";"bytes";"time";"crypto/sha256";"github.com/go-pdf/fpdf";"golang.org/x/image/font/gofont/goregular";"golang.org/x/image/font/gofont/gobold";"golang.org/x/image/font/gofont/gomono")
func doc(n int) []byte {
 f:=fpdf.New("P","mm","A4","")
 f.SetCatalogSort(true); tm:=time.Unix(0,0).UTC(); f.SetCreationDate(tm); f.SetModificationDate(tm)
 f.AddUTF8FontFromBytes("go","",goregular.TTF)
 if n>1 {f.AddUTF8FontFromBytes("go","B",gobold.TTF)}
 if n>2 {f.AddUTF8FontFromBytes("mono","",gomono.TTF)}
 f.AddPage(); f.SetFont("go","",12); f.Text(20,20,"Hello Ελληνικά Кириллица fi ő")
 if n>1 {f.SetFont("go","B",12); f.Text(20,30,"Hello Ελληνικά Кириллица")}
 if n>2 {f.SetFont("mono","",12); f.Text(20,40,"0123abcdef")}
 var b bytes.Buffer
 if err:=f.Output(&b);err!=nil{panic(err)}
 return b.Bytes()
}
func TestSame(t *testing.T){ a:=sha256.Sum256(doc(3)); for range 20 { if sha256.Sum256(doc(3))!=a {t.Fatal("differs")}}; t.Log(len(doc(3)))}
func Benchmark1(b *testing.B){for b.Loop(){doc(1)}}
func Benchmark3(b *testing.B){b.ReportAllocs(); for b.Loop(){doc(3)}}
