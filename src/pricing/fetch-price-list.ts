import { createReadStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { codeOf, messageOf, systemText } from '../lib/errors.ts'
import { PriceListError } from './price-list.ts'

/** A fetched price list as text, or `not_modified` if the list still has the known tag. */
export type FetchedList = { readonly text: string; readonly etag: string | null } | 'not_modified'

/** Limits on fetching a list. */
export interface FetchBounds {
  /** Time limit from the first connection to the last byte. */
  readonly timeoutMs: number
  /** Most bytes of the unpacked content. */
  readonly maxBytes: number
  readonly maxRedirects: number
}

/** The default limits: several times the size of the largest known list. */
export const fetchBounds: FetchBounds = { timeoutMs: 30_000, maxBytes: 8_000_000, maxRedirects: 3 }

/**
 * Reads a price list from a URL or a file. `etag` is the tag of the present list, null for none. Rejects with
 * {@link PriceListError}.
 */
export async function fetchPriceList(
  source: string,
  etag: string | null,
  bounds: FetchBounds = fetchBounds,
): Promise<FetchedList> {
  const signal = AbortSignal.timeout(bounds.timeoutMs)
  try {
    if (!isUrl(source)) {
      return { text: await textOf(createReadStream(source, { signal }), bounds.maxBytes), etag: null }
    }
    return await download(source, etag, signal, bounds)
  } catch (error) {
    if (error instanceof PriceListError) throw error
    if (signal.aborted) {
      throw new PriceListError(`${source} did not arrive completely within ${bounds.timeoutMs / 1000} s.`, {
        cause: error,
      })
    }
    throw new PriceListError(`${source} cannot be fetched: ${reasonOf(error)}.`, { cause: error })
  }
}

/** True if a source is fetched over the network. */
export function isUrl(source: string): boolean {
  return /^https?:\/\//i.test(source)
}

async function download(
  source: string,
  etag: string | null,
  signal: AbortSignal,
  { maxBytes, maxRedirects }: FetchBounds,
): Promise<FetchedList> {
  const headers = { accept: 'application/json', ...(etag === null ? {} : { 'if-none-match': etag }) }
  let url = new URL(source)
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    // Redirects are followed one by one, so that each is checked.
    const response = await fetch(url, { redirect: 'manual', headers, signal })
    if (response.status === 304 && etag !== null) return 'not_modified'
    if (response.ok && response.body !== null) {
      return { text: await textOf(response.body, maxBytes), etag: response.headers.get('etag') }
    }
    await response.body?.cancel()
    const location = response.headers.get('location')
    if (response.status < 300 || response.status >= 400 || location === null) {
      throw new PriceListError(`${url.origin} answered ${response.status} instead of a price list.`)
    }
    url = nextUrl(url, location)
  }
  throw new PriceListError(`${source} redirects more than ${maxRedirects} times.`)
}

/**
 * The target of a redirect, which must be on the same host. Otherwise a list could make this machine send requests
 * elsewhere. Throws {@link PriceListError}.
 */
function nextUrl(url: URL, location: string): URL {
  const next = URL.parse(location, url.href)
  const isSecured = next?.protocol === 'https:' && url.protocol === 'http:' && url.port === ''
  if (next !== null && next.host === url.host && (isSecured || next.protocol === url.protocol)) return next
  const to = JSON.stringify(location.slice(0, 200))
  const message = `${url.origin} leads to ${to}, which is not followed: give --pricing-source the final address.`
  throw new PriceListError(message)
}

/** Reads a text up to `maxBytes` of decoded bytes. */
async function textOf(body: Readable | ReadableStream<Uint8Array>, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body as AsyncIterable<Uint8Array>) {
    bytes += chunk.byteLength
    if (bytes > maxBytes) throw new PriceListError(`The list is larger than ${maxBytes / 1e6} MB.`)
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (error) {
    throw new PriceListError('The list is not UTF-8 text.', { cause: error })
  }
}

/** The reason of a failed `fetch`, which is in the error's cause. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error
  return systemText(inner) ?? (messageOf(inner) || String(codeOf(inner) ?? inner))
}
