import { test } from 'node:test'
import { holdAgainstHostility } from './hostile/run.ts'

test('no body holds the gateway up for long, ends it, or fails it, whatever mapping it meets', (t) =>
  holdAgainstHostility(t, { stride: 311, longestBlock: 150 }))
