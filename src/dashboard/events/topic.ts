/** Who listens to a topic. */
export interface TopicReader {
  /** False where the reader is too far behind: the data is not sent. */
  send(data: unknown): boolean
  /** As `send`, for data that is JSON text already, on one line. */
  sendJson(json: string): boolean
  /** Calls back once when data that was refused could be sent; never if the reader leaves before. */
  whenRoom(callback: () => void): void
}

/** What `/api/events` can tell of. A topic that nobody listens to costs nothing. */
export interface Topic {
  /** As it stands in `topics=`, and the name of its events. */
  readonly name: string
  /** Tells the reader how things stand, and then what changes, until the returned function is called. */
  subscribe(reader: TopicReader): () => void
}
