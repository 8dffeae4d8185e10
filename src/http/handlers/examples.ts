/** Bodies that the API page shows, the same few entities throughout. */
export const USER = {
  UserId: 'alice',
  Labels: ['likes-long-films'],
  Comment: 'Joined in spring',
  Subscribe: [],
};

export const ITEM = {
  ItemId: 'film-1',
  IsHidden: false,
  Categories: ['Drama'],
  Timestamp: '2022-03-04T05:06:07Z',
  Labels: ['1950s', 'court'],
  Comment: 'Twelve Angry Men',
};

export const FEEDBACK = {
  FeedbackType: 'like',
  UserId: 'alice',
  ItemId: 'film-1',
  Timestamp: '2022-03-04T05:06:07Z',
  Comment: '',
};

export const VECTOR = { ItemId: 'film-1', Vector: [0.12, -0.5, 0.83] };

export const IMPRESSION = {
  UserId: 'alice',
  Recommendation: 'home..0.mgx0ef40.8V0Yw5hQJ4cQp1oB',
  Items: ['film-1', 'film-2'],
};

export const SCORED = [
  { Id: 'film-1', Score: 2.5 },
  { Id: 'film-2', Score: 1.25 },
];

export const HEALTH = {
  CacheStoreConnected: true,
  CacheStoreError: '',
  DataStoreConnected: true,
  DataStoreError: '',
  Ready: true,
};

export const EXPLANATION = {
  UserId: 'ann',
  ItemId: 'film-1',
  Recommended: true,
  Rank: 0,
  Score: 0.38,
  Parts: [
    { Name: 'base', Meaning: "what the user's candidates have on the mean", Score: -1.4 },
    { Name: 'popularity', Meaning: 'liked by 312 people in two days, 4,310 times in all', Score: 0.91 },
  ],
  Recommenders: [{ Name: 'collaborative', Score: 0.61 }],
  Contributions: [
    { ItemId: 'film-7', Score: 0.43, Share: 0.7 },
    { ItemId: 'film-9', Score: 0.18, Share: 0.3 },
  ],
  Titles: { 'film-1': 'The Third Man', 'film-7': 'Laura', 'film-9': '' },
};
