import type { AlertsReport, AlertTest } from '../../api/alerts.ts'
import type { ClientsReport } from '../../api/clients.ts'
import type { UpstreamsReport } from '../../api/upstreams.ts'
import type { CallPayloads } from '../../api/call-payloads.ts'
import type { CostMatches, Costs, PriceEntry, RepriceJob, RepriceResult } from '../../api/costs.ts'
import type { CompressResult, DatabaseJob, DatabaseSize } from '../../api/database-job.ts'
import type { EventData } from '../../api/dashboard-event.ts'
import type { GatewaysReport } from '../../api/gateways.ts'
import type { Note, NotesReport } from '../../api/notes.ts'
import type { LiveCalls } from '../../api/live-calls.ts'
import type { Overview } from '../../api/overview.ts'
import type { ProcessStatus, StartAnswer } from '../../api/process-status.ts'
import type { ProxyConfig } from '../../api/proxy-config.ts'
import type { RawLogEvent, RawLogStatus, RawLogSwitched, RecentPayloads } from '../../api/raw-log.ts'
import type { SlotWaitsReport } from '../../api/slot-waits.ts'
import type { Sessions } from '../../api/sessions.ts'
import type { CallJson } from '../../call/call-record.ts'
import type { ModelCosts } from '../../pricing/model-costs.ts'
import type { GroupAnswer } from '../../query/group-answer.ts'
import type { ListAnswer } from '../../query/list-answer.ts'

/** Why nothing is told, where the database cannot be read: answers are then as if no call had ever been recorded. */
interface NoStore {
  /** `missing`, `empty`, `damaged`, … */
  readonly store?: string
  readonly note?: string
}

interface CallList extends ListAnswer, NoStore {}
/** The prices in force: the price file, and what is wrong with it. */
interface PricesInForce extends ModelCosts, Pick<Costs, 'problem'> {}
interface SessionList extends Sessions, NoStore {}
interface CallGroups extends GroupAnswer, NoStore {}
interface CountedMatches extends CostMatches, NoStore {}

interface Done {
  readonly success: true
}

/** A page of HTML; 401 is the page to sign in. */
interface PageAnswers {
  readonly '200 text/html': string
  readonly '401 text/html': string
}

/** Calls, newest first; or figures by a key, with `group_by`. Other forms hold the calls or groups alone. @fails too_many_groups folded_range too_busy too_slow query_interrupted */
interface QueryAnswers {
  readonly 200: CallList | CallGroups
  readonly '200 text/csv': string
  readonly '200 application/x-ndjson': string
}

/**
 * What each route answers, by status and, where that is not JSON, content type. `build/openapi.ts` makes the document of
 * the API of it: the comments are its words, and `@fails` names the error codes that the route alone has.
 */
export interface RouteAnswers {
  /** Overview: is all well, and what changed. @fails page_not_built */
  'GET /': PageAnswers
  /** Compare: models, clients or upstreams side by side. @fails page_not_built */
  'GET /compare': PageAnswers
  /** Calls: which calls exactly. @fails page_not_built */
  'GET /calls': PageAnswers
  /** Sessions: what an agent did. @fails page_not_built */
  'GET /sessions': PageAnswers
  /** Live: calls as they begin and end. @fails page_not_built */
  'GET /live': PageAnswers
  /** Costs: where the money goes. @fails page_not_built */
  'GET /costs': PageAnswers
  /** Gateway: its process, options, log and database. @fails page_not_built */
  'GET /gateway': PageAnswers
  /** A file of the page. @fails page_not_built */
  'GET /assets/:name': { readonly '200 */*': string }
  /** This document. @fails document_not_built */
  'GET /openapi.json': { readonly 200: Readonly<Record<string, unknown>> }
  /** The document of the gateway's own routes, which are on its own port. @fails document_not_built */
  'GET /openapi/gateway.json': { readonly 200: Readonly<Record<string, unknown>> }

  /** Signs a browser in: the admin token becomes a cookie. @fails token_wrong too_many_attempts */
  'POST /api/session': { readonly 204: null }
  /** Signs a browser out. */
  'DELETE /api/session': { readonly 204: null }

  /** The gateway's process: its state, address and health. */
  'GET /api/proxy/status': { readonly 200: ProcessStatus }
  /** Starts the gateway; answers when it is healthy. @fails unknown_setting invalid_setting fixed_setting start_failed port_in_use broken_settings_file settings_not_kept */
  'POST /api/proxy/start': { readonly 200: StartAnswer }
  /** Stops the gateway, which first finishes the calls in flight; answers when it has ended. @fails not_running stop_failed */
  'POST /api/proxy/stop': { readonly 200: ProcessStatus }
  /** Starts a new gateway, which takes over from the running one without refusing a call. @fails unknown_setting invalid_setting fixed_setting start_failed port_in_use stop_failed broken_settings_file settings_not_kept */
  'POST /api/proxy/restart': { readonly 200: ProcessStatus }
  /** Every option of the gateway: value, default, source, and what the running one goes by. @fails broken_settings_file */
  'GET /api/proxy/config': { readonly 200: ProxyConfig }
  /** Keeps settings for the next start; live ones take effect at once. @fails unknown_setting invalid_setting fixed_setting not_applied broken_settings_file settings_not_kept */
  'PUT /api/proxy/config': { readonly 200: ProxyConfig }
  /** The last lines of the gateway's log. */
  'GET /api/proxy/logs': {
    readonly 200: {
      readonly logs: readonly string[]
      readonly total_lines: number
      readonly returned_lines: number
    }
  }
  /** Empties the gateway's log. */
  'POST /api/proxy/clear-logs': { readonly 200: Done }

  /** The calls that are not over yet, the oldest first; none if no gateway answers. */
  'GET /api/live': { readonly 200: LiveCalls }
  /** Ends a call: it is answered 503, or cut where its answer has begun. @fails call_not_found gateway_silent */
  'POST /api/calls/:id/cancel': { readonly 200: { readonly cancelled: true } }

  'GET /api/query': QueryAnswers
  'GET /api/stats': QueryAnswers
  /** All that the first page shows: the last 24 hours unless told otherwise, with the window before. @fails folded_range too_busy too_slow query_interrupted */
  'GET /api/overview': { readonly 200: Overview }
  /** The figures of a time as one file of HTML, to be kept or sent: it asks nobody for anything. @fails page_not_built folded_range too_busy too_slow query_interrupted */
  'GET /api/report': { readonly '200 text/html': string }
  /** How calls waited for slots, and would have with other limits, if the upstream were as fast as it was. @fails too_busy too_slow query_interrupted */
  'GET /api/slots': { readonly 200: SlotWaitsReport }
  /** Sessions that have a call of the filter; each is told as a whole. Other forms hold the sessions alone. @fails too_busy too_slow query_interrupted */
  'GET /api/sessions': {
    readonly 200: SessionList
    readonly '200 text/csv': string
    readonly '200 application/x-ndjson': string
  }
  /** One call. @fails call_not_found too_busy too_slow query_interrupted */
  'GET /api/calls/:id': { readonly 200: CallJson }
  /** What a call asked and was answered, if that was kept. @fails too_busy too_slow query_interrupted */
  'GET /api/calls/:id/payloads': { readonly 200: CallPayloads }

  /** The log of payloads: whether it is on, and its size. @fails gateway_silent */
  'GET /api/raw-log/status': { readonly 200: RawLogStatus }
  /** Switches the log of payloads. @fails not_running gateway_silent */
  'POST /api/raw-log/toggle': { readonly 200: RawLogSwitched }
  /** Deletes all payloads that were kept. @fails gateway_silent */
  'POST /api/raw-log/clear': { readonly 200: Done }
  /** The newest records of the log of payloads. @fails gateway_silent too_busy too_slow query_interrupted */
  'GET /api/raw-log/recent': { readonly 200: RecentPayloads }
  /** The gateway's feed of payloads: server-sent events. @fails not_running gateway_silent too_many_readers pipelined_stream */
  'GET /api/raw-log/stream': { readonly '200 text/event-stream': RawLogEvent }

  /** All calls of the filter, newest first, however many, as a file. If it breaks off, the connection does. @fails job_running no_database job_failed pipelined_stream */
  'GET /api/export': {
    readonly '200 text/csv': string
    readonly '200 application/x-ndjson': string
    readonly '200 application/vnd.apache.parquet': string
  }

  /** The database's file. */
  'GET /api/db': { readonly 200: DatabaseSize }
  /** Folds old calls into sums and makes the file smaller. 202 with `async=1`. @fails job_running no_database job_failed */
  'POST /api/db/compress': { readonly 200: CompressResult; readonly 202: DatabaseJob }

  /** The prices in force. @fails too_busy too_slow query_interrupted */
  'GET /api/costs': { readonly 200: PricesInForce }
  /** Every upstream and model of recorded calls, with the price that is in force now. @fails too_busy too_slow query_interrupted */
  'GET /api/costs/matches': { readonly 200: CountedMatches }
  /** Sets one's own price of a model, or of `host:port/model`. @fails invalid_price broken_price_file prices_not_kept prices_busy */
  'PUT /api/costs/overrides/:name': { readonly 200: PriceEntry }
  /** Takes one's own price of a model away. @fails price_not_found broken_price_file prices_not_kept prices_busy */
  'DELETE /api/costs/overrides/:name': { readonly 200: { readonly removed: string } }
  /** Begins to bring the prices up to date with their list; `sync` of `/api/costs` tells how it goes. @fails sync_running */
  'POST /api/costs/sync': { readonly 202: { readonly status: 'started' } }
  /** Gives calls of the past the cost that the prices say now; with `dry_run` 200 and what would change. @fails job_running folded_range no_database broken_price_file job_failed */
  'POST /api/costs/reprice': { readonly 200: RepriceResult; readonly 202: RepriceJob }

  /** The rules of alerts, what is active and what was sent. */
  'GET /api/alerts': { readonly 200: AlertsReport }
  /** Sets rules, a switch or a threshold at a time. @fails broken_alerts_file alerts_not_kept alerts_busy */
  'PUT /api/alerts': { readonly 200: AlertsReport }
  /** Sends a test message, and says what came back. */
  'POST /api/alerts/test': { readonly 200: AlertTest }

  /** What people noted of moments, the newest first: charts mark it. */
  'GET /api/notes': { readonly 200: NotesReport }
  /** Notes something, of now unless told. @fails broken_notes_file notes_not_kept notes_busy too_many_notes */
  'POST /api/notes': { readonly 201: Note }
  /** Deletes a note. @fails note_not_found broken_notes_file notes_not_kept notes_busy */
  'DELETE /api/notes/:id': { readonly 200: Done }

  /** Who called in the last seven days or has limits: calls, limits, and what is in use and left by the running gateway. @fails too_busy too_slow query_interrupted */
  'GET /api/clients': { readonly 200: ClientsReport }
  /** Sets limits of a client, by its name or the fingerprint of a key, or names the key; null takes a value away. In force at once. @fails invalid_client broken_clients_file clients_not_kept clients_busy too_busy too_slow query_interrupted */
  'PUT /api/clients/:name': { readonly 200: ClientsReport }

  /** All upstreams: as they are set, and as the running gateway finds them. */
  'GET /api/upstreams': { readonly 200: UpstreamsReport }
  /** Sets what is given of an upstream, takes away what is null, and adds one that there is not. In force at once. A key of the gateway's own is lent by the command alone. @fails invalid_upstream key_not_lent broken_upstreams_file upstreams_not_kept upstreams_busy */
  'PUT /api/upstreams/:name': { readonly 200: UpstreamsReport }
  /** Takes an upstream away; calls under way there end as they would. @fails upstream_not_found invalid_upstream broken_upstreams_file upstreams_not_kept upstreams_busy */
  'DELETE /api/upstreams/:name': { readonly 200: UpstreamsReport }

  /** The gateways that share a limit, each with its state and slots; without `--share` the dashboard's own alone. */
  'GET /api/gateways': { readonly 200: GatewaysReport }
  /** Takes a gateway that is lost off the list: what it held is given to others. @fails gateway_not_found gateway_not_silent share_unreachable */
  'POST /api/gateways/:instance/release': { readonly 200: GatewaysReport }

  /** Server-sent events of the topics that are asked for. An event's name is its topic, its data one member of `x-event-data`. @fails too_many_readers pipelined_stream */
  'GET /api/events': { readonly '200 text/event-stream': EventData }
}
