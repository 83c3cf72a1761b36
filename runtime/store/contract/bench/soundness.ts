/** SQL that finds faults in a store's data which no query of the port shows. Each test ends with it. */

/** SQL that selects a line for each fault. `schema` is the tables' prefix. */
export function faultsSql(schema = ''): string {
  const of = (name: string) => `${schema}${name}`
  const counted = (name: string) =>
    `(SELECT coalesce(sum(value), 0) FROM ${of('counts')} WHERE name = '${name}')`
  return `
    SELECT 'a task that is never claimed' AS wrong FROM ${of('tasks')} AS t
      WHERE t.state IS NULL
      AND NOT EXISTS (SELECT 1 FROM ${of('tasks')} AS head WHERE head.lane = t.lane AND head.sequence < t.sequence)
    UNION ALL SELECT 'two ready tasks in a lane' FROM ${of('tasks')} WHERE state = 'ready' AND lane IS NOT NULL GROUP BY lane HAVING count(*) > 1
    UNION ALL SELECT 'a wrong backlog' WHERE ${counted('backlog')}
      <> (SELECT count(*) FROM ${of('tasks')} WHERE kind IN ('run', 'delivery'))
    UNION ALL SELECT 'a wrong count of events' WHERE ${counted('pending')}
      <> (SELECT count(*) FROM ${of('events')} WHERE pending = 1)
    UNION ALL SELECT 'wrong sizes' WHERE ${counted('keptBytes')}
      <> (SELECT coalesce(sum(kept), 0) FROM ${of('requests')})
    UNION ALL SELECT 'a wrong count of turns' FROM ${of('sessions')} AS s
      WHERE s.turns <> (SELECT count(*) FROM ${of('turns')} AS t WHERE t.session = s.session)
    UNION ALL SELECT 'turns of no session' FROM ${of('turns')} WHERE session NOT IN (SELECT session FROM ${of('sessions')})
    UNION ALL SELECT 'what joined a run that is gone' FROM ${of('joined')} WHERE run NOT IN (SELECT id FROM ${of('runs')})
    UNION ALL SELECT 'a run to join that is gone' FROM ${of('coalesced')} WHERE run NOT IN (SELECT id FROM ${of('runs')})
    UNION ALL SELECT 'items of a job that is gone' FROM ${of('job_items')} WHERE job NOT IN (SELECT id FROM ${of('jobs')})`
}
