import { hostname, networkInterfaces } from 'node:os'
import { CodedError } from '../lib/errors.ts'
import { CheckedFile, type NotChanged } from './checked-file.ts'
import { JsonValueError, pathText } from './json-check.ts'
import {
  type UpstreamSetting,
  type UpstreamSettings,
  noUpstreams,
  upstreamSettings,
} from './upstream-settings.ts'

/** Why upstreams were not changed. */
export class UpstreamSettingsError extends CodedError<
  | 'broken_upstreams_file'
  | 'upstreams_not_kept'
  | 'upstreams_busy'
  | 'invalid_upstream'
  | 'upstream_not_found'
  | 'key_not_lent'
> {}

/** The file of upstreams besides the default one. */
export class UpstreamsFile extends CheckedFile<UpstreamSettings> {
  readonly #check: ReturnType<typeof upstreamSettings>

  /** `ownPorts`: those of this gateway and its dashboard, which no upstream can be. */
  constructor(path: string, ownPorts: readonly number[]) {
    const check = upstreamSettings((url) => isOwn(url, ownPorts))
    super(path, check, noUpstreams)
    this.#check = check
  }

  /** Changes the list, one process at a time. Rejects with {@link UpstreamSettingsError}. */
  async change(
    changed: (upstreams: readonly UpstreamSetting[]) => readonly UpstreamSetting[],
  ): Promise<void> {
    using lock = await this.lock()
    if (lock === null) {
      throw new UpstreamSettingsError('upstreams_busy', `${this.path} is being changed by another process.`)
    }
    this.write((before) => {
      try {
        return this.#check({ ...before, upstreams: changed(before.upstreams) })
      } catch (error) {
        if (!(error instanceof JsonValueError)) throw error
        const words = `${pathText(error.path)} ${error.flaw}`.trim()
        throw new UpstreamSettingsError('invalid_upstream', `${words}.`, {
          param: String(error.path[2] ?? ''),
        })
      }
    })
  }

  protected override refusal(why: NotChanged, message: string): UpstreamSettingsError {
    return new UpstreamSettingsError(
      why === 'broken' ? 'broken_upstreams_file' : 'upstreams_not_kept',
      message,
    )
  }
}

/** Whether an address is of this machine, at one of these ports. */
function isOwn(url: string, ports: readonly number[]): boolean {
  const { hostname: host, port, protocol } = new URL(url)
  if (!ports.includes(Number(port === '' ? (protocol === 'https:' ? 443 : 80) : port))) return false
  const name = host.replace(/^\[|\]$/g, '')
  if (/^127\.|^0\.0\.0\.0$|^::1?$|^localhost$|\.localhost$/.test(name) || name === hostname().toLowerCase())
    return true
  return Object.values(networkInterfaces()).some((each) => each?.some(({ address }) => address === name))
}
