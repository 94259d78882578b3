import type { TopicReader } from '../../src/dashboard/events/topic.ts'

/** A reader of a topic that falls behind when it is told to. */
export class ScriptedReader implements TopicReader {
  readonly told: unknown[] = []
  isBehind = false
  /** How often somebody began to wait for room. */
  waits = 0
  #whenRoom: (() => void)[] = []

  send(json: string): boolean {
    if (!this.isBehind) this.told.push(JSON.parse(json))
    return !this.isBehind
  }

  whenRoom(callback: () => void): void {
    this.waits += 1
    this.#whenRoom.push(callback)
  }

  catchUp(): void {
    this.isBehind = false
    const callbacks = this.#whenRoom
    this.#whenRoom = []
    for (const callback of callbacks) callback()
  }
}
