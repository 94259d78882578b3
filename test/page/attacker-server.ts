import { readFileSync } from 'node:fs'
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http'

/** What a page of the attacker can read where nothing keeps it from it. */
export const bait = 'a-secret-that-nobody-guards'

/** The attacker's pages, and a victim beside them that lets everybody do everything. */
export interface AttackerServer extends AsyncDisposable {
  readonly port: number
  /** `POST /victim`, by any way that changes something: how many the victim got. */
  readonly deeds: number
  close(): Promise<void>
}

/** `await using attacker = await startAttackerServer()`; on any free port unless told. */
export async function startAttackerServer(port = 0): Promise<AttackerServer> {
  let deeds = 0
  const script = readFileSync(new URL('attacks.js', import.meta.url))
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    req.resume()
    if (req.url === '/attacks.js') res.setHeader('Content-Type', 'text/javascript').end(script)
    else if (req.url !== '/victim') res.setHeader('Content-Type', 'text/html').end(pageFor(req))
    else {
      if (req.method !== 'GET' && req.method !== 'OPTIONS') deeds += 1
      giveIn(req, res)
    }
  }
  const server = createServer(answer)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no TCP address')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => {
      server.close(resolve)
    })
  }
  return {
    port: address.port,
    get deeds() {
      return deeds
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** Everything that a careless server could allow. */
function giveIn(req: IncomingMessage, res: ServerResponse): void {
  res.setHeader('Access-Control-Allow-Origin', req.headers.origin ?? '*')
  res.setHeader('Access-Control-Allow-Credentials', 'true')
  res.setHeader('Access-Control-Allow-Methods', 'POST, PUT, DELETE')
  res.setHeader('Access-Control-Allow-Headers', 'content-type, x-requested-with')
  const wantsEvents = req.headers.accept === 'text/event-stream'
  res.setHeader('Content-Type', wantsEvents ? 'text/event-stream' : 'text/html')
  res.end(wantsEvents ? `data: ${bait}\n\n` : bait)
}

function pageFor(req: IncomingMessage): string {
  const script = `<script src="http://${req.headers.host ?? ''}/attacks.js"></script>`
  const inner = `<!doctype html><body>${script}</body>`
  const quoted = inner.replaceAll('"', '&quot;')
  const sandbox = `<iframe name="sandboxed" sandbox="allow-scripts allow-forms allow-popups" srcdoc="${quoted}"></iframe>`
  const data = `<iframe name="data" src="data:text/html,${encodeURIComponent(inner)}"></iframe>`
  return `<!doctype html><title>attacker</title><body>${script}${sandbox}${data}</body>`
}
