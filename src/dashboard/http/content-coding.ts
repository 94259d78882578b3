/** How a body can be packed. */
export type ContentCoding = 'br' | 'gzip'

/** The coding to pack a body with for who sent this `Accept-Encoding`; null where it is to go as it is. */
export function codingFor(acceptEncoding: string | undefined): ContentCoding | null {
  const weights = new Map<string, number>()
  for (const item of (acceptEncoding ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = item.split(';').map((part) => part.trim())
    const q = parameters.find((parameter) => parameter.startsWith('q='))
    weights.set(name, q === undefined ? 1 : Number(q.slice(2)) || 0)
  }
  const weightOf = (name: string): number => weights.get(name) ?? weights.get('*') ?? 0
  const [br, gzip] = [weightOf('br'), weightOf('gzip')]
  if (br <= 0 && gzip <= 0) return null
  return br >= gzip ? 'br' : 'gzip'
}
