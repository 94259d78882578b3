import type { PageAnswers } from './page-routes.ts'
import type { DocumentAnswers } from './document-routes.ts'
import type { SessionAnswers } from './session-routes.ts'
import type { ProcessAnswers } from './process-routes.ts'
import type { CallAnswers } from './call-routes.ts'
import type { ReportAnswers } from './report-routes.ts'
import type { RawLogAnswers } from './raw-log-routes.ts'
import type { ExportAnswers } from './export-routes.ts'
import type { DatabaseAnswers } from './database-routes.ts'
import type { CostAnswers } from './cost-routes.ts'
import type { AlertAnswers } from './alert-routes.ts'
import type { NoteAnswers } from './note-routes.ts'
import type { ClientAnswers } from './client-routes.ts'
import type { UpstreamAnswers } from './upstream-routes.ts'
import type { GatewayAnswers } from './gateway-routes.ts'
import type { EventAnswers } from './event-routes.ts'

/**
 * What each route answers, by status and, where that is not JSON, content type; each part stands beside its routes.
 * `build/openapi.ts` makes the document of the API of it: the comments are its words, and `@fails` names the error codes that
 * the route alone has.
 */
export interface RouteAnswers
  extends
    PageAnswers,
    DocumentAnswers,
    SessionAnswers,
    ProcessAnswers,
    CallAnswers,
    ReportAnswers,
    RawLogAnswers,
    ExportAnswers,
    DatabaseAnswers,
    CostAnswers,
    AlertAnswers,
    NoteAnswers,
    ClientAnswers,
    UpstreamAnswers,
    GatewayAnswers,
    EventAnswers {}
