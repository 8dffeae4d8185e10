/** What a fit is doing; every stage ends with done = total. */
export type FitStage = 'loading feedback' | 'training' | 'making lists';
export type OnProgress = (stage: FitStage, done: number, total: number) => void;
