/** What a stream brings, as text; null if it is more than so many bytes. Rejects if it breaks. */
export async function readAtMost(maxBytes: number, stream: AsyncIterable<Buffer>): Promise<string | null> {
  const chunks: Buffer[] = []
  let byteLength = 0
  for await (const chunk of stream) {
    byteLength += chunk.length
    if (byteLength > maxBytes) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}
