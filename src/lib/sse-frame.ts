/** One event of a text/event-stream (HTML Standard §9.2.6). The name and the id hold no line break. */
export function sseEvent(name: string | null, data: string, id?: string): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`)
  return `${name === null ? '' : `event: ${name}\n`}${id === undefined ? '' : `id: ${id}\n`}${lines.join('')}\n`
}

/** How long a client waits before it connects again. */
export function sseRetry(ms: number): string {
  return `retry: ${ms}\n\n`
}

/** What no client takes for an event: it keeps the connection in use. */
export const sseComment = ':\n\n'
