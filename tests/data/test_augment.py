import itertools

import numpy as np
import pytest
import torch

from lff.core import BadInputError, from_dict, to_dict
from lff.data import Augmentation, NoAugmentation, RandomCrop, RandomTranslate, augment

CROP, TRANSLATE = RandomCrop(size=5), RandomTranslate(size=11)


def draw_images(count, *, side=8, channels=6, seed=0):
    g = np.random.default_rng(seed)
    return g.integers(1, 256, (count, channels, side, side), dtype=np.uint8)  # nothing is black


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def by_loop(augmentation, images, corners):
    """Transform one image after another."""
    done = []
    for image, y, x in zip(images, *corners.tolist(), strict=True):
        side = image.shape[-1]
        if isinstance(augmentation, RandomCrop):
            done.append(image[:, y : y + augmentation.size, x : x + augmentation.size])
        else:
            canvas = np.zeros((len(image), augmentation.size, augmentation.size), np.uint8)
            canvas[:, y : y + side, x : x + side] = image
            done.append(canvas)
    return np.stack(done)


def found_corners(augmentation, images, transformed):
    """Where in each image the window was, or where on black the image is."""
    room = abs(images.shape[-1] - transformed.shape[-1])
    places = [*itertools.product(range(room + 1), repeat=2)]
    each = [by_loop(augmentation, images, np.full((len(images), 2), p).T) for p in places]
    same = np.stack([(e == transformed).all((1, 2, 3)) for e in each], axis=1)
    assert (same.sum(1) == 1).all()
    return same.argmax(1)


@pytest.mark.parametrize("augmentation", [CROP, TRANSLATE])
def test_a_batch_at_once_equals_a_plain_loop(augmentation):
    obs, next_obs = draw_images(20), draw_images(20, seed=1)
    corners = augmentation.draw(20, (8, 8), seeded())
    one, other = augment(augmentation, obs, next_obs, seeded())
    np.testing.assert_array_equal(one, by_loop(augmentation, obs, corners.obs))
    np.testing.assert_array_equal(other, by_loop(augmentation, next_obs, corners.next_obs))
    assert one.dtype == np.uint8
    tensors = augment(augmentation, torch.from_numpy(obs), torch.from_numpy(next_obs), seeded())
    assert torch.equal(tensors[0], torch.from_numpy(one))
    assert torch.equal(tensors[1], torch.from_numpy(other))


@pytest.mark.parametrize("augmentation", [CROP, TRANSLATE])
def test_every_placement_is_equally_likely(augmentation):
    images = draw_images(3200)
    one, other = augment(augmentation, images, images, seeded())
    for transformed in (one, other):
        counts = np.bincount(found_corners(augmentation, images, transformed), minlength=16)
        assert ((counts - 200) ** 2 / 200).sum() < 37.7  # fifteen degrees of freedom, 0.999


def test_crops_of_a_transition_are_independent_and_translations_shared():
    images = draw_images(3200)
    first, second = (
        found_corners(CROP, images, x) for x in augment(CROP, images, images, seeded())
    )
    pairs = np.bincount(16 * first + second, minlength=256)
    assert ((pairs - 12.5) ** 2 / 12.5).sum() < 330.6  # 255 degrees of freedom, 0.999
    one, other = augment(TRANSLATE, images, images, seeded())
    np.testing.assert_array_equal(one, other)


def test_all_frames_of_an_observation_move_together():
    images = np.repeat(draw_images(50, channels=1), 9, axis=1)
    for augmentation in (CROP, TRANSLATE):
        for transformed in augment(augmentation, images, images, seeded()):
            assert (transformed == transformed[:, :1]).all()


def test_the_papers_sizes():
    images = draw_images(2, side=100, channels=9)
    crop, translate = RandomCrop(), RandomTranslate()
    assert augment(crop, images, images, seeded())[0].shape == (2, 9, 84, 84)
    assert augment(translate, images, images, seeded())[0].shape == (2, 9, 108, 108)
    np.testing.assert_array_equal(crop.center(images), images[..., 8:92, 8:92])
    centered = translate.center(images)
    assert centered.shape == (2, 9, 108, 108)
    np.testing.assert_array_equal(centered[..., 4:104, 4:104], images)
    assert centered.sum(dtype=np.int64) == images.sum(dtype=np.int64)  # black around it


@pytest.mark.parametrize("augmentation", [CROP, TRANSLATE, NoAugmentation()])
def test_acting_sees_what_training_sees(augmentation):
    """The authors evaluated translation on images that were not translated (their bug B2)."""
    images = draw_images(4)
    trained, _ = augment(augmentation, images, images, seeded())
    centered = augmentation.center(images)
    assert centered.shape == trained.shape
    assert centered.shape[-1] == augmentation.out_size(8)
    assert centered.dtype == np.uint8
    # the deterministic transform is one of the random ones
    found_or_same = centered if isinstance(augmentation, NoAugmentation) else None
    if found_or_same is None:
        assert {*found_corners(augmentation, images, centered).tolist()} == {5}  # (1, 1) of 4 x 4
    else:
        np.testing.assert_array_equal(found_or_same, images)
    np.testing.assert_array_equal(augmentation.center(images[0]), centered[0])
    tensor = augmentation.center(torch.from_numpy(images))
    assert tensor.dtype == torch.uint8
    np.testing.assert_array_equal(tensor.numpy(), centered)
    centered[:] = 0
    tensor.zero_()
    np.testing.assert_array_equal(images, draw_images(4))  # copies, not views


def test_no_augmentation_draws_nothing():
    images, generator = draw_images(3), seeded()
    one, other = augment(NoAugmentation(), images, images[::-1].copy(), generator)
    np.testing.assert_array_equal(one, images)
    np.testing.assert_array_equal(other, images[::-1])
    assert torch.equal(generator.get_state(), seeded().get_state())


def test_sides_may_differ():
    images = draw_images(30)[:, :, :, :6]
    (one, _), corners = augment(CROP, images, images, seeded()), CROP.draw(30, (8, 6), seeded())
    np.testing.assert_array_equal(one, by_loop(CROP, images, corners.obs))
    assert corners.obs.max(1).tolist() == [3, 1]


@pytest.mark.parametrize("augmentation", [RandomCrop(size=48), RandomTranslate(), NoAugmentation()])
def test_written_and_read_back(augmentation):
    assert from_dict(Augmentation, to_dict(augmentation)) == augmentation


def test_bad_sizes():
    with pytest.raises(BadInputError, match="at most the image's side 64, got 84; use a crop"):
        RandomCrop().out_size(64)
    with pytest.raises(BadInputError, match="at least the image's 120, got 108; translate on"):
        RandomTranslate().center(np.zeros((3, 120, 120), np.uint8))
    with pytest.raises(BadInputError, match="size"):
        RandomCrop(size=0)
