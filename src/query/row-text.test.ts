import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type CsvValue, csvLine } from './row-text.ts'

const lines: readonly [values: readonly CsvValue[], line: string][] = [
  [['a', 1, -2.5, true, null, ''], 'a,1,-2.5,true,,'],
  [['a,b', 'say "no"', 'two\r\nlines', "it's"], '"a,b","say ""no""","two\r\nlines",it\'s'],
  [['=1+1', '+1', '-1', '@x', '\tx', '\rx'], "'=1+1,'+1,'-1,'@x,'\tx,\"'\rx\""],
  [['=HYPERLINK("http://evil.example","x")'], '"\'=HYPERLINK(""http://evil.example"",""x"")"'],
  [['a=b', ' =1', '名'], 'a=b, =1,名'],
  [["'=1", "''-1", "'a"], "''=1,'''-1,'a"],
]
for (const [values, line] of lines) {
  test(JSON.stringify(values), () => assert.equal(csvLine(values), `${line}\r\n`))
}
