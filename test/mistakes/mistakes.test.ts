import { mistakesOfExpressions } from './expressions.ts'
import { testMistakes } from './fixture.ts'
import { mistakesOfPatterns } from './patterns.ts'

testMistakes([...mistakesOfPatterns, ...mistakesOfExpressions])
