import { readFile, readdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exchange } from './exchange.ts'
import { type JsonRecord, asRecord, parseRecord } from './json-record.ts'
import type { RawResponse } from './raw-response.ts'

/** The raw log of a gateway, asked over HTTP as a program on its machine asks. */
export interface RawLog {
  ask(method: string, name: string, body?: unknown): Promise<RawResponse>
  status(): Promise<JsonRecord>
  toggle(enabled: boolean, forS?: number): Promise<void>
  /** Newest first. */
  recent(limit?: number): Promise<readonly JsonRecord[]>
  clear(): Promise<void>
  /** The lines of the file, oldest first, older segments before it. */
  lines(): Promise<readonly string[]>
  /** Both records of a call, as `recent` has them; waits until the answer is there. */
  recordsOf(callId: string): Promise<{ readonly request: JsonRecord; readonly answer: JsonRecord }>
}

export function rawLogOf({ port }: { readonly port: number }): RawLog {
  const ask = (method: string, name: string, body?: unknown): Promise<RawResponse> =>
    exchange(port, method, `/v1/raw-log/${name}`, {
      host: `127.0.0.1:${port}`,
      ...(body === undefined
        ? {}
        : { headers: [['Content-Type', 'application/json']], body: JSON.stringify(body) }),
    })
  const done = async (method: string, name: string, body?: unknown): Promise<JsonRecord> => {
    const response = await ask(method, name, body)
    if (response.status !== 200) throw new Error(`${name}: ${response.status} ${response.body.toString()}`)
    return parseRecord(response.body.toString())
  }
  const recent = async (limit = 1000): Promise<readonly JsonRecord[]> => {
    const { entries } = await done('GET', `recent?limit=${limit}`)
    return Array.isArray(entries) ? entries.map(asRecord) : []
  }
  return {
    ask,
    recent,
    status: () => done('GET', 'status'),
    toggle: async (enabled, forS) => {
      await done('POST', 'toggle', forS === undefined ? { enabled } : { enabled, for_s: forS })
    },
    clear: async () => {
      await done('POST', 'clear')
    },
    lines: async () => {
      const path = String((await done('GET', 'status'))['file_path'])
      const folder = dirname(path)
      const names = (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))
      // `payloads.jsonl` is the newest; the others are named by their first seq.
      const paths = names
        .sort((a, b) => b.length - a.length || (a < b ? -1 : 1))
        .map((name) => join(folder, name))
      const texts = await Promise.all(paths.map((each) => readFile(each, 'utf8')))
      return texts.flatMap((text) => text.split('\n').filter((line) => line !== ''))
    },
    recordsOf: async (callId) => {
      const untilMs = performance.now() + 20_000
      for (;;) {
        const records = (await recent()).filter((record) => record['id'] === callId)
        const request = records.find((record) => record['direction'] === 'incoming')
        const answer = records.find((record) => record['direction'] === 'outgoing')
        if (records.length > 2) throw new Error(`${records.length} records of ${callId}`)
        if (request !== undefined && answer !== undefined) return { request, answer }
        if (performance.now() > untilMs) throw new Error(`${records.length} records of ${callId} after 20 s`)
      }
    },
  }
}
