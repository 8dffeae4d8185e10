import type { ItemView } from '../../domain/admin-schemas.ts';
import { pathOf } from '../api.ts';
import { count, short, time } from '../format.ts';
import { Chart } from '../parts/chart.tsx';
import { Card, Fact, Names, PageHead, State } from '../parts/common.tsx';
import { ItemScores } from '../parts/item-scores.tsx';
import { addToSession } from '../state.ts';
import { useResource } from '../use-resource.ts';
import { HideButton } from './items.tsx';

export function ItemPage({ id }: { id: string }) {
  const path = pathOf(['api', 'admin', 'item', id], { n: 20 });
  const { data, error, loading, reload } = useResource<ItemView>(path);
  return (
    <>
      <PageHead title={short(data?.Item.Comment || id)}>{id}</PageHead>
      <State error={error} loading={loading} />
      {data !== undefined && (
        <>
          <About data={data} done={reload} />
          <div class="cards">
            <Trend data={data} />
            <Card title="Items like it">
              <ItemScores label="Items like it" items={data.Neighbors} none="None are known." />
            </Card>
            {data.Spaces.map(({ Name, Neighbors }) => (
              <Card key={Name} title={`By ${Name}`}>
                <ItemScores label={`Items like it by ${Name}`} items={Neighbors} none="None are known." />
              </Card>
            ))}
          </div>
        </>
      )}
    </>
  );
}

function About({ data, done }: { data: ItemView; done: () => void }) {
  const { Item, Users, FeedbackCount, UsersRead } = data;
  return (
    <Card
      wide
      title="About"
      aside={
        <span class="buttons">
          <button type="button" class="small outline" onClick={() => addToSession(Item.ItemId, Item.Comment)}>
            Add to session
          </button>
          <HideButton item={Item} done={done} />
        </span>
      }
    >
      <dl class="facts">
        <Fact name="State" value={Item.IsHidden ? 'hidden' : 'shown'} />
        <Fact name="Time" value={time(Item.Timestamp)} />
        <Fact name="Categories" value={<Names values={Item.Categories} />} />
        <Fact name="Labels" value={<Names values={Item.Labels} />} />
        <Fact name="Users" value={count(Users)} note="With any feedback on it" />
        <Fact
          name="Feedback"
          value={count(FeedbackCount)}
          note={UsersRead < Users ? `of ${count(UsersRead)} users, evenly spread` : undefined}
        />
      </dl>
    </Card>
  );
}

function Trend({ data: { Trend: trend, FeedbackTypes } }: { data: ItemView }) {
  return (
    <Card title="Feedback over time">
      {trend.Times.length === 0 ? (
        <p class="muted">There is none.</p>
      ) : (
        <>
          <Chart
            title="Records"
            times={trend.Times}
            format={count}
            height={220}
            lines={[
              { label: 'all', values: trend.All, color: 1 },
              { label: 'positive', values: trend.Positive, color: 2 },
            ]}
          />
          <p class="muted">{FeedbackTypes.map(({ Name, Count }) => `${Name}: ${count(Count)}`).join(', ')}</p>
        </>
      )}
    </Card>
  );
}
