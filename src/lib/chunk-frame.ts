/**
 * One chunk of a chunked message (RFC 9112 §7.1) as a single buffer: its size in hexadecimal, its data, and the
 * line ends between.
 */
export function chunkFrame(data: Uint8Array): Buffer {
  const size = `${data.length.toString(16)}\r\n`
  const frame = Buffer.allocUnsafe(size.length + data.length + 2)
  frame.write(size, 'latin1')
  frame.set(data, size.length)
  frame[frame.length - 2] = 0x0d
  frame[frame.length - 1] = 0x0a
  return frame
}
