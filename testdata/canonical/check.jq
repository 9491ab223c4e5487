# The profile, as far as values show it. Input: the documents of one file, slurped into an array.
# check.sh compares the bytes with jq's own writer besides; see there what each of the two sees.
def deepest: if type == "object" or type == "array" then 1 + ([.[] | deepest] | max // 0) else 0 end;
def bidi: . == 1564 or . == 8206 or . == 8207 or (. >= 8234 and . <= 8238) or (. >= 8294 and . <= 8297);
def forbidden: . == 127 or . == 8232 or . == 8233 or bidi
  or (. >= 64976 and . <= 65007) or (. % 65536 >= 65534);

if length != 1 then error("not one document") else .[0] end
| if type != "object" then error("no object")
  elif deepest > 16 then error("too deep")
  elif any(..; . == null) then error("null")
  elif any(.. | numbers; (tostring | test("^(0|-?[1-9][0-9]*)$") | not) or fabs > 9007199254740991) then error("number")
  elif any(.. | objects | keys[]; test("^[a-z][a-z0-9_]*$") | not) then error("key")
  elif any(.. | strings | explode[]; forbidden) then error("code point")
  else empty end
