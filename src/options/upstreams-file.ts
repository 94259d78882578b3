import { ValidatedJsonFile } from './validated-json-file.ts'
import { isOwnAddress } from './own-address.ts'
import {
  type UpstreamSetting,
  type UpstreamSettings,
  noUpstreams,
  upstreamSettings,
} from './upstream-settings.ts'

/** The file of upstreams besides the default one. */
export class UpstreamsFile extends ValidatedJsonFile<UpstreamSettings> {
  /** `ownPorts`: the ports of this gateway and its dashboard, which no upstream can use. */
  constructor(path: string, ownPorts: readonly number[]) {
    super(path, {
      topic: 'upstreams',
      schema: upstreamSettings((url) => isOwnAddress(url, ownPorts)),
      empty: noUpstreams,
      invalid: { code: 'invalid_upstream', paramOf: ([, , member = '']) => String(member) },
    })
  }

  /** Changes the list. Rejects with `JsonFileError`, and with what `changed` throws. */
  change(changed: (upstreams: readonly UpstreamSetting[]) => readonly UpstreamSetting[]): Promise<void> {
    return this.update((before) => ({ ...before, upstreams: changed(before.upstreams) }))
  }
}
