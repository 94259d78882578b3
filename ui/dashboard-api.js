/** @import { ErrorBody } from '../src/api/error-body.ts' */
/** @import { ProcessStatus, StartAnswer } from '../src/api/process-status.ts' */
/** @import { ProxyConfig, SettingValue } from '../src/api/proxy-config.ts' */

/** Why the dashboard did not do what it was asked for, in words for the reader. */
export class Trouble extends Error {
  /**
   * @param {string} message
   * @param {string | null} param the setting that is wrong
   * @param {readonly string[]} log the gateway's last words
   */
  constructor(message, param = null, log = []) {
    super(message)
    this.name = 'Trouble'
    this.param = param
    this.log = log
  }
}

/** The dashboard's routes. All reject with {@link Trouble}. Without a session they lead to the sign-in page. */
export class DashboardApi {
  /** @returns {Promise<StartAnswer>} */
  start() {
    return ask('POST', '/api/proxy/start')
  }

  /** @returns {Promise<ProcessStatus>} */
  stop() {
    return ask('POST', '/api/proxy/stop')
  }

  /** @returns {Promise<ProcessStatus>} */
  restart() {
    return ask('POST', '/api/proxy/restart')
  }

  /** @returns {Promise<ProxyConfig>} */
  config() {
    return ask('GET', '/api/proxy/config')
  }

  /**
   * @param {Readonly<Record<string, SettingValue>>} settings
   * @returns {Promise<ProxyConfig>}
   */
  configure(settings) {
    return ask('PUT', '/api/proxy/config', settings)
  }

  /** @returns {Promise<unknown>} */
  clearLog() {
    return ask('POST', '/api/proxy/clear-logs')
  }
}

/**
 * @param {string} method
 * @param {string} path
 * @param {unknown} [body]
 * @returns {Promise<any>} what the route answers, which src/api describes
 */
async function ask(method, path, body) {
  const init = body === undefined ? {} : { body: JSON.stringify(body), headers: jsonHeaders }
  let response
  let answer
  try {
    response = await fetch(path, { method, ...init })
    answer = await response.json()
  } catch {
    throw new Trouble('The dashboard did not answer.')
  }
  if (response.ok) return answer
  // The root then serves the sign-in page.
  if (response.status === 401) location.assign('/')
  throw troubleOf(answer, response.status)
}

const jsonHeaders = { 'Content-Type': 'application/json' }

/**
 * @param {Partial<ErrorBody> | null} answer
 * @param {number} status
 */
function troubleOf(answer, status) {
  const error = answer?.error
  return error === undefined
    ? new Trouble(`The dashboard answered with status ${status}.`)
    : new Trouble(error.message, error.param, error.log)
}
