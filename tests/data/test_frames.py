import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lff.core import BadInputError
from lff.core.memory import check_memory
from lff.data import (
    FrameReplay,
    NoAugmentation,
    RandomCrop,
    RandomTranslate,
    Replay,
    augment,
    frames,
)
from lff.store import SegmentStore

SHAPE = (6, 5, 5)  # three frames of two channels
NONE = NoAugmentation()


class NaiveFrameBuffer:
    """Whole observations, twice, in a ring, as RAD keeps them."""

    def __init__(self, capacity, augmentation=NONE):
        self.capacity, self.rows, self.total = capacity, [None] * capacity, 0
        self.augmentation = augmentation

    def add(self, *transition):
        self.rows[self.total % self.capacity] = transition
        self.total += 1

    def sample(self, size, generator):
        held = min(self.total, self.capacity)
        picked = torch.randint(held, (size,), generator=generator).tolist()
        obs, action, reward, next_obs, terminated = zip(
            *(self.rows[i] for i in picked), strict=True
        )
        obs, next_obs = (torch.from_numpy(np.stack(x)) for x in (obs, next_obs))
        obs, next_obs = augment(self.augmentation, obs, next_obs, generator)
        action = torch.from_numpy(np.stack(action))
        reward = torch.tensor(reward, dtype=torch.float32)
        return obs, action, reward, next_obs, torch.tensor(terminated)


def episodes(lengths, *, seed=0, shape=SHAPE, channels=2):
    """Yield ("begin", obs) and ("add", transition) of episodes of random images."""
    g = np.random.default_rng(seed)
    for length in lengths:
        frame = g.integers(0, 256, (channels, *shape[1:]), dtype=np.uint8)
        obs = np.concatenate([frame] * (shape[0] // channels))
        yield "begin", obs
        for step in range(length):
            frame = g.integers(0, 256, frame.shape, dtype=np.uint8)
            next_obs = np.concatenate([obs[channels:], frame])
            action = g.standard_normal(2).astype(np.float32)
            ends = step == length - 1 and bool(g.integers(2))  # by a terminal state, or by time
            yield "add", (obs, action, float(np.float32(g.standard_normal())), next_obs, ends)
            obs = next_obs


def feed(replay, event):
    kind, what = event
    if kind == "begin":
        replay.begin(what)
    else:
        *transition, terminated = what
        replay.add(*transition, terminated=terminated)


def build(capacity, augmentation=NONE):
    return FrameReplay(
        capacity, obs_shape=SHAPE, action_dim=2, frame_channels=2, augmentation=augmentation
    )


def filled(lengths, capacity, augmentation=NONE):
    replay, naive = build(capacity, augmentation), NaiveFrameBuffer(capacity, augmentation)
    for event in episodes(lengths):
        feed(replay, event)
        if event[0] == "add":
            naive.add(*event[1])
    return replay, naive


def draw(replay, *, seed=1, size=40):
    return replay.sample(size, torch.Generator().manual_seed(seed))


def assert_same(one, other):
    for a, b in zip(one, other, strict=True):
        assert a.dtype == b.dtype
        assert torch.equal(a, b)


LENGTHS = st.lists(st.integers(1, 12), min_size=1, max_size=12)
AUGMENTATIONS = st.sampled_from([NONE, RandomCrop(size=3), RandomTranslate(size=7)])


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 25), AUGMENTATIONS)
def test_batches_are_those_of_the_naive_buffer(lengths, capacity, augmentation):
    replay, naive = filled(lengths, capacity, augmentation)
    assert len(replay) == min(sum(lengths), capacity)
    assert_same(draw(replay), draw(naive))
    naive.augmentation = NONE
    peeked = replay.peek(40, torch.Generator().manual_seed(1))
    assert_same(peeked, draw(naive))


def test_long_histories_wrap_rows_and_transitions():
    """The rings of rows and of transitions have gone round several times, out of step."""
    lengths = np.random.default_rng(0).integers(3, 40, 60).tolist()
    replay, naive = filled(lengths, 100)
    assert replay.rows > 5 * replay.row_capacity
    assert len(replay) == 100
    for seed in range(10):
        assert_same(draw(replay, seed=seed), draw(naive, seed=seed))


@settings(deadline=None)
@given(st.data(), st.integers(1, 6))
def test_a_restored_ring_goes_on_bit_for_bit(data, slack):
    """Stored at arbitrary moments, amid episodes, restored at one of them, and continued."""
    events = [*episodes(data.draw(LENGTHS))]
    capacity = data.draw(st.integers(1, 25))
    cuts = {0, *data.draw(st.lists(st.integers(0, len(events)), max_size=4))}
    with pytest.MonkeyPatch.context() as patch:  # little slack: the rings wrap within few steps
        patch.setattr(frames, "_row_capacity", lambda size: size + slack)
        replay, again = build(capacity), build(capacity)
    segments, stored, at = [], 0, max(cuts)
    for n, event in enumerate(events):
        if n in cuts:
            segments.append(replay.since(stored))
            stored = replay.rows
        if n == at:
            joined = {k: np.concatenate([s[k] for s in segments]) for k in segments[0]}
            assert len(joined["age"]) >= replay.kept_rows
            last = {k: v[len(v) - replay.kept_rows :] for k, v in joined.items()}
            again.restore([last], stored=replay.kept_rows, total=replay.rows)
        feed(replay, event)
        if n >= at:
            feed(again, event)
    if at < len(events):
        assert (len(again), again.rows, again.total) == (len(replay), replay.rows, replay.total)
        if len(replay):
            assert_same(draw(again), draw(replay))


def test_a_ring_is_restored_from_files_one_at_a_time(tmp_path):
    events = [*episodes([30, 30, 100, 7])]
    store, refs, stored = SegmentStore(tmp_path), [], 0
    replay, again, whole = build(50), build(50), build(50)
    for number, event in enumerate(events[:160]):  # amid the third episode
        feed(replay, event)
        if number % 40 == 39:
            refs.append(store.append(replay.since(stored)))
            stored = replay.rows
    again.restore(store.each(refs), stored=stored, total=stored)
    whole.restore([store.read(refs)], stored=stored, total=stored)
    assert store.read(refs)["frame"].dtype == np.uint8
    for ring in (replay, again, whole):
        for event in events[160:]:
            feed(ring, event)
    assert_same(draw(again), draw(replay))
    assert_same(draw(whole), draw(replay))


def test_short_episodes_let_the_oldest_go_early():
    """Episodes of one step need two rows each: 100 + 66 rows hold 83 of them."""
    replay, _ = filled([1] * 300, 100)
    assert replay.row_capacity == 166
    assert len(replay) == 83


@settings(deadline=None)
@given(LENGTHS, st.integers(1, 25), st.integers(1, 6))
def test_what_has_lost_a_frame_is_not_sampled(lengths, capacity, slack):
    """With little slack: the newest transitions whose every frame is there, and no others."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frames, "_row_capacity", lambda size: size + slack)
        replay = build(capacity)
    added, age = [], 0
    for event in episodes(lengths):
        age = 0 if event[0] == "begin" else age + 1
        if age:
            added.append((event[1], replay.rows - min(age, 3)))  # its oldest frame
        feed(replay, event)
    there = [t for t, oldest in added[-capacity:] if oldest >= replay.rows - capacity - slack]
    assert len(replay) == len(there)
    if len(there) < min(len(added), capacity):
        naive = NaiveFrameBuffer(len(there))
        last = there
    else:
        naive, last = NaiveFrameBuffer(capacity), [t for t, _ in added]
    for transition in last:
        naive.add(*transition)
    if there:
        assert_same(draw(replay), draw(naive))


def test_transitions_are_sampled_uniformly():
    replay, naive = filled([4, 6], 10)
    batch = draw(replay, size=50_000)
    counts = [(batch.reward == row[2]).sum().item() for row in naive.rows]
    assert sum(counts) == 50_000
    chi_square = sum((count - 5_000) ** 2 / 5_000 for count in counts)
    assert chi_square < 27.9  # nine degrees of freedom, 0.999


def test_images_stay_uint8_and_belong_to_the_batch():
    replay, _ = filled([9], 9)
    batch = draw(replay)
    assert batch.obs.dtype == batch.next_obs.dtype == torch.uint8
    before = draw(replay, seed=2)
    for part in batch:
        part.zero_()
    assert_same(draw(replay, seed=2), before)
    kept = [part.clone() for part in before]
    for event in episodes([9, 9], seed=5):
        feed(replay, event)
    assert_same(before, kept)


def test_to_begin_again_at_the_same_image_changes_nothing():
    (_, obs), step, *_ = episodes([3])
    replay = build(5)
    replay.begin(obs)
    replay.begin(obs)
    assert replay.rows == 1
    feed(replay, step)
    replay.begin(obs)  # an episode with an equal start is another episode
    assert (replay.rows, replay.total) == (3, 1)


def test_memory_of_the_papers_replay():
    needed = FrameReplay.bytes_needed(100_000, action_dim=6)
    row = 3 * 100 * 100 + 6 * 4 + 4 + 1 + 4 + 8
    assert needed == 102_064 * row + 100_000 * 8
    assert needed < 3.3e9
    small = FrameReplay(1000, action_dim=6)
    arrays = [*small._columns.values(), small._transitions]
    assert sum(a.nbytes for a in arrays) == FrameReplay.bytes_needed(1000, action_dim=6)


def test_what_does_not_fit_is_refused_before_it_is_asked_for(monkeypatch):
    check_memory(10, 10)
    check_memory(10**15, None)
    monkeypatch.setattr(frames, "available_memory", lambda: 2_000_000_000)
    with pytest.raises(BadInputError, match=r"at most the 2\.0 .* got 3\.07; .*--replay-capacity"):
        FrameReplay(100_000, action_dim=6)


def test_bad_use():
    (_, obs), (_, (_, action, reward, next_obs, _)), *_ = episodes([3])
    replay = build(5)

    def add(obs=obs, next_obs=next_obs, *, terminated=False):
        replay.add(obs, action, reward, next_obs, terminated=terminated)

    with pytest.raises(BadInputError, match="not empty"):
        draw(replay)
    with pytest.raises(BadInputError, match="call begin"):
        add()
    with pytest.raises(BadInputError, match="one frame repeated"):
        replay.begin(next_obs)
    with pytest.raises(BadInputError, match="uint8 of shape"):
        replay.begin(obs.astype(np.float32))
    replay.begin(obs)
    with pytest.raises(BadInputError, match="the next_obs before"):
        add(obs=next_obs)
    with pytest.raises(BadInputError, match="one frame later"):
        add(next_obs=next_obs[::-1].copy())
    assert (replay.rows, len(replay)) == (1, 0)
    add(terminated=True)
    with pytest.raises(BadInputError, match="call begin"):
        add(obs=next_obs)
    with pytest.raises(BadInputError, match="9 or more"):
        build(5).restore([replay.since(0)], stored=2, total=9)
    with pytest.raises(BadInputError, match="multiple of the 3"):
        FrameReplay(5, obs_shape=(4, 5, 5), action_dim=1)


@pytest.mark.parametrize("kind", ["states", "frames"])
def test_both_rings_have_what_the_training_loop_needs(kind):
    ring = Replay(3, obs_dim=2, action_dim=1) if kind == "states" else build(3)
    for event in episodes([2, 3]):
        if kind == "frames":
            feed(ring, event)
        elif event[0] == "begin":
            ring.begin([0.0, 0.0])
        else:
            ring.add([0.0, 1.0], [0.5], 1.0, [1.0, 1.0], terminated=False)
    assert (ring.rows, ring.kept_rows) == ((5, 3) if kind == "states" else (7, 7))
    assert {len(array) for array in ring.since(0).values()} == {ring.kept_rows}
    assert {len(array) for array in ring.since(ring.rows - 1).values()} == {1}
