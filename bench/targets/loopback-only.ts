/** Loaded before a rival's own code (`node --import`): it listens on loopback, and cannot connect to anywhere else. */
import { Server, Socket, isIP } from 'node:net'

interface Address {
  host?: string
  port?: number
  /** Of a socket in the file system; a client of HTTP gives null. */
  readonly path?: string | null
}

/** An address without a listener, so that connections to other hosts are refused. */
const nowhere = { host: '127.0.0.1', port: 9 }

type Method<Of> = (this: Of, ...args: unknown[]) => Of
const listen = Reflect.get(Server.prototype, 'listen') as Method<Server>
const connect = Reflect.get(Socket.prototype, 'connect') as Method<Socket>

Server.prototype.listen = function (this: Server, ...args: unknown[]): Server {
  const [first] = args
  const port = typeof first === 'number' ? first : (first as Address).port
  const done = args.find((arg) => typeof arg === 'function') as (() => void) | undefined
  return listen.call(this, { port, host: '127.0.0.1' }, done)
}

/** node:net passes its arguments on as one array, whose first member is the address. */
Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  const [to] = (Array.isArray(args[0]) ? args[0] : args) as [Address]
  if (typeof to.path !== 'string' && !isLoopback(to.host ?? 'localhost')) Object.assign(to, nowhere)
  return connect.apply(this, args)
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))
}
