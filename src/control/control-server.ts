import { chmodSync, renameSync, rmSync, statSync } from 'node:fs'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import type { ErrorBody } from '../api/error-body.ts'
import { messageOf } from '../lib/errors.ts'
import { reportFault } from '../lib/fault.ts'
import { takeFileLock } from '../lib/files/file-lock.ts'
import { lingerAfter } from '../lib/http/linger.ts'
import { isObject, readMessage } from '../lib/message-shape.ts'
import { createServer, readAtMost } from '../lib/http/http.ts'
import { SettingError, live, readSettings } from '../options/gateway-settings.ts'
import { ControlClient } from './control-client.ts'
import { type ControlledGateway, isDrainReport, isHandOverOrder } from './control-messages.ts'
import { openSocketAddress, socketName } from './control-socket.ts'
import { readProcessRecord, removeProcessRecord, writeProcessRecord } from './process-record.ts'

const maxBodyBytes = 64 * 1024
/** Most bytes of a report, which may hold a thousand calls. */
const maxReportBytes = 16 * 1024 * 1024
const lockLimitMs = 5000
const rawLogPath = '/raw-log/'
const cancelRoute = /^POST \/calls\/([0-9a-z]+)\/cancel$/

export interface ControlServerOptions {
  /** The data folder; it must exist. */
  readonly folder: string
  readonly gateway: ControlledGateway
  /** Another gateway that holds the socket and does not answer within this time (ms) counts as one that hangs. */
  readonly holderLimitMs?: number
  /** The instance from which this one takes the folder over. */
  readonly predecessor?: string | null
}

/** A gateway's end of the channel by which it is controlled. */
export interface ControlServer {
  /** True as long as who asks for the folder's gateway comes here. */
  readonly holdsName: boolean
  /** False if the known name leads nowhere: somebody has removed it, or the whole folder. */
  readonly hasName: boolean
  /** Writes the process's record where there is none. Answers why that cannot be, or `null`. */
  record(): string | null
  /**
   * Says in the record how this gateway is about to end. One that has failed gives the known name up at once, so that another
   * can take its place. Never rejects: what cannot be written is not said.
   */
  ends(how: 'told' | 'failed'): Promise<void>
  /**
   * Takes socket and record away, if they are still this gateway's, and lets nobody in any more; the record of one that has
   * failed stays. Who has asked for the stop stays connected, to learn of the process's end from its breaking. Never rejects.
   */
  close(): Promise<void>
}

/**
 * Lets who may open a data folder's socket, its owner alone, see, change and stop the gateway. Rejects in words if
 * another live gateway is controlled from this folder, or the socket cannot be made.
 */
export async function openControl(options: ControlServerOptions): Promise<ControlServer> {
  const { folder, gateway, holderLimitMs = 2000, predecessor = null } = options
  const { instance, identity, host, port, started_at, supervised } = gateway.status()
  const own = { instance, ...identity, host, port, started_at, supervised, ends: undefined }
  // Under a name of its own until it is ready: behind the known name there is always one that answers.
  const ownName = `gateway-${instance}.sock`
  const ownPath = join(folder, ownName)
  const path = join(folder, socketName)
  const server = createServer({}, (req, res) => {
    answer(gateway, req, res).catch((error: unknown) => {
      reportFault(error)
      res.destroy()
    })
  })
  // A client's connection does not keep the gateway alive.
  server.on('connection', (socket) => socket.unref()).unref()
  using address = openSocketAddress(folder, ownName)
  await once(server.listen({ path: address.path }), 'listening')
  const inode = inodeOf(ownPath)
  let hasFailed = false
  /** Nothing here may meet another gateway that takes the name at the same time. */
  const locked = async (change: () => void): Promise<void> => {
    try {
      using lock = await takeFileLock(`${path}.lock`, lockLimitMs)
      if (lock !== null) change()
    } catch {
      // The folder is gone, or full. A socket on which nobody listens says as much as none.
    }
  }
  const releaseName = (): void => {
    if (control.holdsName) rmSync(path, { force: true })
  }
  const control: ControlServer = {
    get holdsName() {
      return inode !== null && inodeOf(path) === inode
    },
    get hasName() {
      return inodeOf(path) !== null
    },
    record: () => {
      try {
        if (readProcessRecord(folder)?.instance !== instance) writeProcessRecord(folder, own)
        return null
      } catch (error) {
        return messageOf(error)
      }
    },
    ends: (how) =>
      locked(() => {
        if (readProcessRecord(folder)?.instance !== instance) return
        writeProcessRecord(folder, { ...own, ends: how })
        hasFailed = how === 'failed'
        if (hasFailed) releaseName()
      }),
    close: async () => {
      await locked(() => {
        // The record first: with it, and without a socket, a process seems to hang.
        if (!hasFailed) removeProcessRecord(folder, instance)
        releaseName()
      })
      server.close()
    },
  }
  try {
    chmodSync(ownPath, 0o600)
    // A holder is looked for twice: at first to be quick, then for certain.
    await expectNoOtherGateway(folder, holderLimitMs, predecessor)
    using lock = await takeFileLock(`${path}.lock`, lockLimitMs)
    if (lock === null) throw new Error('another gateway has been starting in this folder')
    await expectNoOtherGateway(folder, holderLimitMs, predecessor)
    renameSync(ownPath, path)
    // Without a record, as on a full disk, the gateway is controlled all the same.
    control.record()
  } catch (error) {
    await control.close()
    throw error
  } finally {
    rmSync(ownPath, { force: true })
  }
  return control
}

/** Nobody but one who does not listen any more, or the predecessor, may hold the known name. */
async function expectNoOtherGateway(
  folder: string,
  limitMs: number,
  predecessor: string | null,
): Promise<void> {
  const holder = await new ControlClient(folder).status(limitMs)
  if (holder === 'notRunning' || (holder !== 'noReply' && holder.instance === predecessor)) return
  const pid = holder === 'noReply' ? readProcessRecord(folder)?.pid : holder.identity.pid
  const silent = holder === 'noReply' ? ', which does not answer,' : ''
  throw new Error(`another gateway (process ${pid ?? 'unknown'})${silent} is controlled from this folder`)
}

async function answer(gateway: ControlledGateway, req: IncomingMessage, res: ServerResponse): Promise<void> {
  try {
    const { pathname, search } = new URL(req.url ?? '', 'http://gateway')
    const route = `${req.method} ${req.url}`
    if (pathname.startsWith(rawLogPath)) {
      gateway.rawLog(pathname.slice(rawLogPath.length), search, req, res)
    } else if (route === 'POST /stop') {
      // The answer has no end: that it breaks is how the asker learns that the process is gone.
      res.writeHead(200, { 'Content-Type': 'application/json' }).write('{"stopping":true}\n')
      gateway.stop()
    } else sendJson(res, ...(await answerTo(route, gateway, req)))
  } catch (error) {
    if (res.headersSent || req.errored !== null) res.destroy()
    else if (error instanceof SettingError) sendJson(res, ...refusal(400, 'invalid_request', error.message))
    else sendJson(res, ...refusal(500, 'internal_error', messageOf(error)))
  }
}

type Answer = readonly [status: number, body: object]

async function answerTo(route: string, gateway: ControlledGateway, req: IncomingMessage): Promise<Answer> {
  // An iterator that is left early would destroy the connection, which has to bring the refusal.
  const mostBytes = route === 'POST /draining' ? maxReportBytes : maxBodyBytes
  const body = await readAtMost(mostBytes, req.iterator({ destroyOnReturn: false }))
  if (body === null) {
    return refusal(413, 'body_too_large', `The body is larger than ${mostBytes} bytes.`)
  }
  switch (route) {
    case 'GET /status':
      return [200, gateway.status()]
    case 'GET /live':
      return [200, await gateway.live()]
    case 'POST /options': {
      const asked = readMessage(body, isObject)
      if (asked === null) return refusal(400, 'invalid_request', 'The body must be a JSON object.')
      await gateway.setOptions(readSettings(asked, live))
      return [200, gateway.status()]
    }
    case 'POST /files':
      gateway.reloadFiles()
      return [200, gateway.status()]
    case 'POST /draining': {
      const report = readMessage(body, isDrainReport)
      if (report === null) return refusal(400, 'invalid_request', 'The body is no report.')
      const taken = gateway.draining(report)
      return taken === null ? refusal(409, 'no_successor', 'Another gateway takes it.') : [200, taken]
    }
    case 'POST /hand-over': {
      // The program of the new gateway is not checked: a user who can open the socket could start any program.
      const order = readMessage(body, isHandOverOrder)
      if (order === null) return refusal(400, 'invalid_request', 'The body does not say what to start.')
      return [200, await gateway.handOver(order)]
    }
    default: {
      const id = cancelRoute.exec(route)?.[1]
      if (id !== undefined) return [200, { cancelled: await gateway.cancel(id) }]
      return refusal(404, 'not_found', `Nothing is answered to ${route} here.`)
    }
  }
}

function refusal(status: number, code: string, message: string): Answer {
  const body: ErrorBody = { error: { code, message, param: null } }
  return [status, body]
}

function sendJson(res: ServerResponse, status: number, body: object): void {
  if (status !== 200) {
    res.shouldKeepAlive = false
    lingerAfter(res)
  }
  res.writeHead(status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(body)}\n`)
}

/** `null` if there is no such file. */
function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null
}
