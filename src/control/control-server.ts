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
/** Most bytes of a drain report, which may list a thousand calls. */
const maxReportBytes = 16 * 1024 * 1024
const lockLimitMs = 5000
const rawLogPath = '/raw-log/'
const cancelRoute = /^POST \/calls\/([0-9a-z]+)\/cancel$/

export interface ControlServerOptions {
  /** The data folder; it must exist. */
  readonly folder: string
  readonly gateway: ControlledGateway
  /** Time limit (ms) for the answer of another gateway that holds the socket. After that time it counts as hanging. */
  readonly holderLimitMs?: number
  /** The instance whose folder this gateway takes over. */
  readonly predecessor?: string | null
}

/** The control socket of a gateway. */
export interface ControlServer {
  /** True while the folder's socket leads to this gateway. */
  readonly holdsName: boolean
  /** False if the socket's file was removed, alone or with its folder. */
  readonly hasName: boolean
  /** Writes the process record if it is missing. Returns the problem; `null` without one. */
  record(): string | null
  /**
   * Writes into the record how this gateway is about to end. A failed gateway removes its socket at once, so that another can
   * start. Never rejects; a record that cannot be written stays.
   */
  ends(how: 'stopped' | 'failed'): Promise<void>
  /**
   * Removes socket and record, if they are still this gateway's, and accepts no more connections. The record of a failed
   * gateway stays. The connection that asked for the stop stays open, so that its break shows the end of the process. Never rejects.
   */
  close(): Promise<void>
}

/**
 * Opens the control socket of a data folder, which only its owner can use. Rejects with a readable error if another live gateway
 * is controlled from this folder, or the socket cannot be made.
 */
export async function openControl(options: ControlServerOptions): Promise<ControlServer> {
  const { folder, gateway, holderLimitMs = 2000, predecessor = null } = options
  const { instance, identity, host, port, started_at, supervised } = gateway.status()
  const own = { instance, ...identity, host, port, started_at, supervised, ends: undefined }
  // The socket has a temporary name until it is ready, so the known name always leads to a gateway that
  // answers.
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
  /** Runs a change of the folder's files under the lock, because other gateways may start at the same time. */
  const locked = async (change: () => void): Promise<void> => {
    try {
      using lock = await takeFileLock(`${path}.lock`, lockLimitMs)
      if (lock !== null) change()
    } catch {
      // The folder is gone, or the disk is full. A socket without a listener means the same as no socket.
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
        // The record goes first: a record without a socket looks like a process that hangs.
        if (!hasFailed) removeProcessRecord(folder, instance)
        releaseName()
      })
      server.close()
    },
  }
  try {
    chmodSync(ownPath, 0o600)
    // The holder is checked twice: at first without the lock, because a check takes time, then under the lock.
    await expectNoOtherGateway(folder, holderLimitMs, predecessor)
    using lock = await takeFileLock(`${path}.lock`, lockLimitMs)
    if (lock === null) throw new Error('another gateway has been starting in this folder')
    await expectNoOtherGateway(folder, holderLimitMs, predecessor)
    renameSync(ownPath, path)
    // The socket works without a record, as on a full disk.
    control.record()
  } catch (error) {
    await control.close()
    throw error
  } finally {
    rmSync(ownPath, { force: true })
  }
  return control
}

/** Throws if another gateway than the predecessor holds the socket. */
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
      // The answer has no end: its break shows the client that the process is gone.
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
  // Without `destroyOnReturn: false`, an early end would destroy the connection before the refusal.
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
      const values = readMessage(body, isObject)
      if (values === null) return refusal(400, 'invalid_request', 'The body must be a JSON object.')
      await gateway.setOptions(readSettings(values, live))
      return [200, gateway.status()]
    }
    case 'POST /files':
      gateway.reloadFiles()
      return [200, gateway.status()]
    case 'POST /draining': {
      const report = readMessage(body, isDrainReport)
      if (report === null)
        return refusal(400, 'invalid_request', 'The body must be a report of the calls that are left.')
      const taken = gateway.draining(report)
      return taken === null ? refusal(409, 'no_successor', 'Another gateway is the successor.') : [200, taken]
    }
    case 'POST /hand-over': {
      // The program of the new gateway is not checked: a user who can open the socket could start any program.
      const order = readMessage(body, isHandOverOrder)
      if (order === null) return refusal(400, 'invalid_request', 'The body must name the command to start.')
      return [200, await gateway.handOver(order)]
    }
    default: {
      const id = cancelRoute.exec(route)?.[1]
      if (id !== undefined) return [200, { cancelled: await gateway.cancel(id) }]
      return refusal(404, 'not_found', `There is no route ${route}.`)
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

/** The inode of a file; `null` without one. */
function inodeOf(path: string): bigint | null {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? null
}
