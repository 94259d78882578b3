/**
 * The used parts of prom-client. Loading all of it, with cluster, push gateway, default metrics and OpenTelemetry,
 * takes 35 ms more at the writer's start. The version of prom-client is pinned, so the files keep their paths.
 */
import { createRequire } from 'node:module'
import type * as PromClient from 'prom-client'

const require = createRequire(import.meta.url)

export const Registry = require('prom-client/lib/registry.js') as typeof PromClient.Registry
export type Registry = PromClient.Registry
export const Counter = require('prom-client/lib/counter.js') as typeof PromClient.Counter
export type Counter = PromClient.Counter
export const Gauge = require('prom-client/lib/gauge.js') as typeof PromClient.Gauge
export type Gauge = PromClient.Gauge
export const Histogram = require('prom-client/lib/histogram.js') as typeof PromClient.Histogram
export type Histogram = PromClient.Histogram
