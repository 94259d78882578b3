/**
 * Loaded before each test file by `npm test` and `npm run check`: property tests draw the same examples in every run.
 * `npm run fuzz` leaves it out; a counterexample that it finds becomes an entry of a table.
 */
import { configureGlobal } from 'fast-check'

configureGlobal({ seed: 20_261_122 })
