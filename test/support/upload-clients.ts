import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** What a client was told of an upload. */
export interface UploadAnswer {
  /** 0 where the client got no answer. */
  readonly status: number
  /** Why the client got none; otherwise the header `x-tokenweir-error`, empty where there is none. */
  readonly code: string
}

/** An upload to an address. */
export interface Upload {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
}

/** Uploads a file, one upload after the other, and answers what each was told. */
type UploadClient = (file: string, uploads: readonly Upload[]) => Promise<readonly UploadAnswer[]>

const python = `
import json, sys, http.client, urllib.request, urllib.error, urllib.parse
client, file, uploads = sys.argv[1], sys.argv[2], json.load(sys.stdin)
body = open(file, 'rb').read()

def by_http_client(url, headers):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    try:
        connection.request('POST', parts.path, body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status, answer.headers
    finally:
        connection.close()

def by_urllib(url, headers):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, body, headers, method='POST'), timeout=30) as answer:
            return answer.status, answer.headers
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers

def by_requests(url, headers):
    import requests
    with requests.Session() as session:
        session.trust_env = False
        answer = session.post(url, data=body, headers=headers, timeout=30)
        return answer.status_code, answer.headers

ask = {'http.client': by_http_client, 'urllib': by_urllib, 'requests': by_requests}[client]
for upload in uploads:
    try:
        status, fields = ask(upload['url'], upload['headers'])
        print(json.dumps({'status': status, 'code': fields.get('x-tokenweir-error', '')}))
    except Exception as error:
        print(json.dumps({'status': 0, 'code': repr(error)}))
`

/** What a program prints that is given this to read, once it has ended. */
async function outputOf(program: string, args: readonly string[], input = ''): Promise<string> {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'] })
  child.stdin.on('error', () => {}).end(input)
  const [output] = await Promise.all([text(child.stdout), once(child, 'close')])
  return output
}

/** The answers that a program printed, one a line. */
function answersIn(output: string): readonly UploadAnswer[] {
  return output
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as UploadAnswer)
}

function pythonClient(name: string): UploadClient {
  return async (file, uploads) =>
    answersIn(await outputOf('python3', ['-c', python, name, file], JSON.stringify(uploads)))
}

/** `lines`: curl's own options. */
function curlClient(...options: readonly string[]): UploadClient {
  return async (file, uploads) => {
    const answers: UploadAnswer[] = []
    for (const { url, headers } of uploads) {
      const fields = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`])
      const fixed = [
        '--silent',
        '--max-time',
        '30',
        '--noproxy',
        '*',
        '-o',
        '/dev/null',
        '--data-binary',
        `@${file}`,
      ]
      const format = ['-w', '%{http_code} %header{x-tokenweir-error} %{errormsg}']
      const output = await outputOf('curl', [...fixed, ...options, ...fields, ...format, url])
      const [status = '', code = '', ...error] = output.split(' ')
      answers.push({ status: Number(status), code: code === '' ? error.join(' ') : code })
    }
    return answers
  }
}

const nodeFetch = `
const [file] = process.argv.slice(1)
const uploads = require('node:fs').readFileSync(0, 'utf8')
const body = require('node:fs').readFileSync(file)
void (async () => {
  for (const { url, headers } of JSON.parse(uploads)) {
    try {
      const answer = await fetch(url, { method: 'POST', headers, body })
      await answer.text()
      console.log(JSON.stringify({ status: answer.status, code: answer.headers.get('x-tokenweir-error') ?? '' }))
    } catch (error) {
      console.log(JSON.stringify({ status: 0, code: String(error.cause ?? error) }))
    }
  }
})()
`

/** Programs that many use; one that is not installed has no entry. */
export async function uploadClients(): Promise<ReadonlyMap<string, UploadClient>> {
  const clients = new Map<string, UploadClient>([
    ['curl', curlClient()],
    ['curl that does not wait to be let go on', curlClient('-H', 'Expect:')],
    [
      "Node's fetch",
      async (file, uploads) =>
        answersIn(await outputOf(process.execPath, ['-e', nodeFetch, file], JSON.stringify(uploads))),
    ],
  ])
  const found = await outputOf('python3', [
    '-c',
    'import importlib.util as u\nfor m in ("http.client", "urllib.request", "requests"): print(m if u.find_spec(m) else "")',
  ]).catch(() => '')
  for (const name of found.split('\n')) {
    const client = name === 'urllib.request' ? 'urllib' : name
    if (client !== '') clients.set(`Python's ${client}`, pythonClient(client))
  }
  return clients
}
