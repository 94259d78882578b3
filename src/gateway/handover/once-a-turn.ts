/** A function that has the callback run once at the end of this turn of the event loop, however often it is called. */
export function onceATurn(callback: () => void): () => void {
  let isPlanned = false
  const run = (): void => {
    isPlanned = false
    callback()
  }
  return () => {
    if (!isPlanned) setImmediate(run)
    isPlanned = true
  }
}
