import { slipsOfExpressions } from './expressions.ts'
import { testSlips } from './fixture.ts'
import { slipsOfPatterns } from './patterns.ts'

testSlips([...slipsOfPatterns, ...slipsOfExpressions])
