/** A question that was read well and is not answered as it stands. Its asker is told why. */
export class QueryRefusal extends Error {
  readonly code: 'too_many_groups' | 'folded_range' | 'call_not_found'
  readonly param: string | null

  constructor(code: QueryRefusal['code'], message: string, param: string | null = null) {
    super(message)
    this.name = 'QueryRefusal'
    this.code = code
    this.param = param
  }
}
