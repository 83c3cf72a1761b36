import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeMissing, findLabel } from './label.ts'

const labels = [
  { id: 'INBOX', name: 'INBOX' },
  { id: 'CATEGORY_UPDATES', name: 'Updates' },
  { id: 'Label_1', name: 'Work/Invoices' },
  { id: 'Label_2', name: 'work/invoices' },
  { id: 'Label_3', name: 'Label_1' },
]

test('ids win over names, and exact names over names in another case', () => {
  assert.equal(findLabel(labels, 'Label_1')?.id, 'Label_1')
  assert.equal(findLabel(labels, 'work/invoices')?.id, 'Label_2')
  assert.equal(findLabel(labels, 'WORK/INVOICES')?.id, 'Label_1')
  assert.equal(findLabel(labels, 'inbox')?.id, 'INBOX')
  assert.equal(findLabel(labels, 'category_updates')?.id, 'CATEGORY_UPDATES')
  assert.equal(findLabel(labels, 'constructor'), undefined)
})

test('a missing label is reported with similar labels', () => {
  assert.match(describeMissing(labels, 'Work/Invoice'), /Nearest are "Work\/Invoices", "work\/invoices", /)
  assert.doesNotMatch(describeMissing([], 'x'), /Nearest/)
})
