import { JsonFileError, ValidatedJsonFile } from './validated-json-file.ts'
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

  /** Changes the list. Rejects with `JsonFileError`, which names the wrong upstream, and with what `changed` throws. */
  async change(
    changed: (upstreams: readonly UpstreamSetting[]) => readonly UpstreamSetting[],
  ): Promise<void> {
    let upstreams: readonly UpstreamSetting[] = []
    try {
      await this.update((before) => ({ ...before, upstreams: (upstreams = changed(before.upstreams)) }))
    } catch (error) {
      if (!(error instanceof JsonFileError) || error.code !== 'invalid_upstream') throw error
      const message = error.message.replace(
        /^upstreams\[(\d+)\]\.?/,
        (_, index: string) => `${upstreams[Number(index)]?.name}: `,
      )
      throw new JsonFileError(error.code, message, { param: error.param })
    }
  }
}
