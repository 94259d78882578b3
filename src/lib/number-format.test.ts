import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatBytes, known, numberFormat } from './number-format.ts'

const plain = numberFormat({ group: ' ', gap: ' ' })
const { bytes, count, counted, dollars, duration, exactDollars, longDuration, percent } = plain
const { roughPercent, roundDuration, shortCount, speed, wait } = plain

const cases: readonly (readonly [made: string, wanted: string])[] = [
  [count(0), '0'],
  [count(480_000_000), '480 000 000'],
  [counted(1, 'call'), '1 call'],
  [counted(0, 'call'), '0 calls'],
  [counted(2, 'query', 'queries'), '2 queries'],
  [shortCount(950), '950'],
  [shortCount(9999), '9 999'],
  [shortCount(12_345), '12.3 K'],
  [shortCount(999_960), '1 M'],
  [shortCount(3_450_000), '3.45 M'],
  [shortCount(12e9), '12 B'],
  [duration(0), '0 ms'],
  [duration(0.004), '<0.01 ms'],
  [duration(0.42), '0.42 ms'],
  [duration(9.999), '10 ms'],
  [duration(12.4), '12 ms'],
  [duration(999.4), '999 ms'],
  [duration(999.6), '1.00 s'],
  [duration(1050), '1.05 s'],
  [duration(10_600), '10.6 s'],
  [duration(59_949), '59.9 s'],
  [duration(59_951), '1 min'],
  [duration(100_000), '1 min 40 s'],
  [duration(3_900_000), '1 h 5 min'],
  [roundDuration(2000), '2 s'],
  [roundDuration(500), '500 ms'],
  [roundDuration(100_000), '1 min 40 s'],
  [wait(0.4), '<1 ms'],
  [wait(412.5), '413 ms'],
  [longDuration(0.2), '0 s'],
  [longDuration(60), '1 min'],
  [longDuration(86_400 * 2 + 3600 * 4), '2 d 4 h'],
  [percent(0), '0 %'],
  [percent(0.000_01), '<0.01 %'],
  [percent(0.0042), '0.42 %'],
  [percent(0.014_16), '1.4 %'],
  [percent(0.1234), '12.3 %'],
  [percent(0.9999), '99.9 %'],
  [percent(1), '100 %'],
  [dollars(0), '$0'],
  [roughPercent(0), '0 %'],
  [roughPercent(0.009), '<1 %'],
  [roughPercent(0.028), '3 %'],
  [roughPercent(0.997), '99 %'],
  [roughPercent(1), '100 %'],
  [roughPercent(1.302), '130 %'],
  [dollars(0.000_000_4), '<$0.0001'],
  [dollars(0.000_413), '$0.0004'],
  [dollars(0.010_04), '$0.0100'],
  [dollars(0.4567), '$0.46'],
  [exactDollars(0.000_001_88), '$0.00000188'],
  [exactDollars(1.239), '$1.24'],
  [dollars(18.061), '$18.06'],
  [dollars(1240), '$1,240'],
  [dollars(2_500_000), '$2.5 M'],
  [bytes(0), '0 B'],
  [bytes(999), '999 B'],
  [bytes(1234), '1.23 kB'],
  [bytes(3.4e9), '3.4 GB'],
  [speed(63.42), '63.4'],
  [known(null, count), '–'],
  [known(0, count), '0'],
]

for (const [made, wanted] of cases) {
  test(`shows ${wanted}`, () => assert.equal(made, wanted))
}

test('spaces are what one asks for', () => {
  const { count, shortCount } = numberFormat({ group: ',', gap: '_' })
  assert.deepEqual([count(1_234_567), shortCount(12_345)], ['1,234,567', '12.3_K'])
})

test('sizes are told in the largest unit of which there is one', () => {
  const told: readonly (readonly [number, string])[] = [
    [0, '0 bytes'],
    [1023, '1023 bytes'],
    [1024, '1.0 KiB'],
    [1536, '1.5 KiB'],
    [1024 * 1024 - 1, '1.0 MiB'],
    [1.6 * 2 ** 30, '1.6 GiB'],
    [5000 * 2 ** 40, '5000.0 TiB'],
  ]
  for (const [bytes, text] of told) assert.equal(formatBytes(bytes), text)
})
