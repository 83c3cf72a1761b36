import assert from 'node:assert/strict'
import { existsSync, globSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { groups, pagesOf } from './pages.ts'

const root = path.join(import.meta.dirname, '../..')
const listed = groups.flatMap((group) => pagesOf(root, group))

test('the sidebar of the site holds every page of docs/ once, and no page that is missing', () => {
  const pages = globSync('docs/**/*.md', { cwd: root })
  assert.deepEqual(
    pages.filter((page) => !listed.includes(page)),
    [],
    'groups in tools/site/pages.ts lack these',
  )
  assert.deepEqual(
    listed.filter((page) => !existsSync(path.join(root, page))),
    [],
    'groups in tools/site/pages.ts name these, which do not exist',
  )
  assert.equal(new Set(listed).size, listed.length)
})
