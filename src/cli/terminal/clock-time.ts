/** A local time: `14:03:22` today, `11-20 14:03:22` this year, `2025-11-20 14:03:22` before. */
export function clockTime(atMs: number, nowMs: number): string {
  const at = localTime(atMs)
  const now = localTime(nowMs)
  if (at.slice(0, 10) === now.slice(0, 10)) return at.slice(11)
  return at.slice(0, 4) === now.slice(0, 4) ? at.slice(5) : at
}

/** The offset of local time at that instant: `UTC`, `UTC+5:45`. */
export function zoneText(atMs: number): string {
  const parts = new Intl.DateTimeFormat('en', { timeZoneName: 'shortOffset' }).formatToParts(atMs)
  const name = parts.find(({ type }) => type === 'timeZoneName')?.value ?? 'GMT'
  return name.replace(/^GMT(?:\+0$)?/, 'UTC')
}

/** `2025-11-20 14:03:22`, the Swedish format of `Intl`. */
function localTime(ms: number): string {
  return new Date(ms).toLocaleString('sv')
}
