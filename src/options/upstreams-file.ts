import { CodedError } from '../lib/errors.ts'
import { CheckedFile, type NotChanged } from './checked-file.ts'
import { JsonValueError, pathText } from './json-check.ts'
import { isOwnAddress } from './own-address.ts'
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
    const check = upstreamSettings((url) => isOwnAddress(url, ownPorts))
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
