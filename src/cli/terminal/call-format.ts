/** What stands where nothing is known. */
export const unknown = '–'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

/** `0.4 ms`, `820 ms`, `3.2 s`, `1m04s`, `2h05m`: never over 7 columns for anything under 100 hours. */
export function formatDuration(ms: number | null): string {
  if (ms === null) return unknown
  if (ms === 0) return '0 ms'
  if (ms < 9.95) return `${ms.toFixed(1)} ms`
  if (ms < 999.5) return `${ms.toFixed(0)} ms`
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} s`
  const seconds = Math.round(ms / 1000)
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${twoDigits(seconds % 60)}s`
  const minutes = Math.round(ms / minuteMs)
  return `${Math.floor((minutes * minuteMs) / hourMs)}h${twoDigits(minutes % 60)}m`
}

/** `1,234,567` */
export function formatCount(count: number | null): string {
  return count === null ? unknown : String(count).replace(/\B(?=(?:\d{3})+$)/g, ',')
}

/** Tokens a second: `7.4`, `61.3`, `245`. */
export function formatSpeed(perSecond: number | null): string {
  if (perSecond === null) return unknown
  return perSecond.toFixed(perSecond < 99.95 ? 1 : 0)
}

/** `$0`, `$0.00042`, `$0.037`, `$1.25`, `$1,250.00`: small amounts keep two digits that count. */
export function formatCost(usd: number | null): string {
  if (usd === null) return unknown
  if (usd === 0) return '$0'
  if (usd < 0.000_001) return '<$0.000001'
  if (usd < 0.1) return `$${Number(usd.toPrecision(2)).toFixed(decimalsFor(usd))}`
  const [whole = '', cents = ''] = usd.toFixed(2).split('.')
  return `$${formatCount(Number(whole))}.${cents}`
}

/** In local time: `14:03:22` today, `11-20 14:03:22` this year, `2025-11-20 14:03:22` before. */
export function formatTime(atMs: number, nowMs: number): string {
  const at = new Date(atMs)
  const now = new Date(nowMs)
  const time = [at.getHours(), at.getMinutes(), at.getSeconds()].map(twoDigits).join(':')
  const day = `${twoDigits(at.getMonth() + 1)}-${twoDigits(at.getDate())}`
  if (at.getFullYear() !== now.getFullYear()) return `${at.getFullYear()}-${day} ${time}`
  return at.getMonth() === now.getMonth() && at.getDate() === now.getDate() ? time : `${day} ${time}`
}

/** Decimals that show an amount under a dime with two digits that count. */
function decimalsFor(usd: number): number {
  return 1 - Math.floor(Math.log10(Number(usd.toPrecision(2))))
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0')
}
