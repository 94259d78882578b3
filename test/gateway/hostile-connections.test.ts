import { test } from 'node:test'
import { attackDashboard, attackGateway } from '../support/hostile-rounds.ts'

const count = 1200

test(`${count} hostile connections end no gateway, keep no slot, and each call has one row`, async () => {
  await attackGateway(count)
})

test(`${count} hostile connections end no dashboard`, async () => {
  await attackDashboard(count)
})
