"""Small networks of many kinds, each as (model, inputs of forward); forward gives a loss or an object with one.

Sizes are small so that a dump takes a second and a few megabytes; widths are odd in places so that no two
dimensions are equal by accident, which would hide a wrong pairing.
"""
import torch
import torchvision
import transformers
from torch import nn
from torch.nn import functional as F

VOCABULARY, LENGTH, BATCH, WIDTH = 96, 20, 2, 48


def tokens():
    return torch.randint(0, VOCABULARY, (BATCH, LENGTH))


def pictures(size=32):
    return torch.randn(BATCH, 3, size, size)


def classes():
    return torch.tensor([1, 3])


class WithLoss(nn.Module):
    """A network of pictures or sequences with the cross entropy of its last dimension."""

    def __init__(self, network):
        super().__init__()
        self.network = network

    def forward(self, x, y):
        scores = self.network(x)
        return F.cross_entropy(scores.flatten(0, -2), y.flatten())


# ---- transformers -----------------------------------------------------------------------------------------------

DECODER = dict(hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=2, num_attention_heads=4,
               vocab_size=VOCABULARY, max_position_embeddings=64, bos_token_id=0, eos_token_id=0, pad_token_id=0)
ENCODER = dict(hidden_size=WIDTH, intermediate_size=2 * WIDTH, num_hidden_layers=2, num_attention_heads=4,
               vocab_size=VOCABULARY, max_position_embeddings=64)


def language(config, model, **settings):
    """A causal or masked language model; its padding mask leaves out the end of one sequence."""
    configuration = getattr(transformers, config)(**settings)
    ids = tokens()
    mask = torch.ones_like(ids)
    mask[1, -4:] = 0
    return getattr(transformers, model)(configuration), dict(input_ids=ids, attention_mask=mask, labels=ids)


def unmasked(config, model, **settings):
    network, inputs = language(config, model, **settings)
    del inputs["attention_mask"]
    return network, inputs


def vision(config, model, **settings):
    configuration = getattr(transformers, config)(num_labels=10, **settings)
    return getattr(transformers, model)(configuration), dict(pixel_values=pictures(), labels=classes())


def whisper():
    configuration = transformers.WhisperConfig(
        d_model=WIDTH, encoder_layers=1, decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
        encoder_ffn_dim=WIDTH, decoder_ffn_dim=WIDTH, vocab_size=VOCABULARY, max_source_positions=32,
        max_target_positions=32, num_mel_bins=16, pad_token_id=0, bos_token_id=0, eos_token_id=0,
        decoder_start_token_id=0)
    return (transformers.WhisperForConditionalGeneration(configuration),
            dict(input_features=torch.randn(BATCH, 16, 64), labels=tokens()))


def clip():
    part = dict(hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=4, intermediate_size=WIDTH)
    configuration = transformers.CLIPConfig(
        text_config=dict(part, vocab_size=VOCABULARY, max_position_embeddings=64),
        vision_config=dict(part, image_size=32, patch_size=8), projection_dim=32)
    return (transformers.CLIPModel(configuration),
            dict(input_ids=tokens(), pixel_values=pictures(), return_loss=True))


def wav2vec():
    configuration = transformers.Wav2Vec2Config(
        vocab_size=VOCABULARY, hidden_size=WIDTH, num_hidden_layers=1, num_attention_heads=4,
        intermediate_size=WIDTH, conv_dim=(16, 16), conv_stride=(4, 2), conv_kernel=(8, 3),
        num_feat_extract_layers=2, num_conv_pos_embeddings=15, num_conv_pos_embedding_groups=4,
        mask_time_prob=0.0, layerdrop=0.0, pad_token_id=0)
    return (transformers.Wav2Vec2ForCTC(configuration),
            dict(input_values=torch.randn(BATCH, 400), labels=torch.randint(1, VOCABULARY, (BATCH, 6))))


# ---- torchvision ------------------------------------------------------------------------------------------------

def resnet():
    network = torchvision.models.ResNet(torchvision.models.resnet.BasicBlock, [1, 1, 1, 1], num_classes=10)
    return WithLoss(network), dict(x=pictures(), y=classes())


def named(name, size=32, **settings):
    network = getattr(torchvision.models, name)(num_classes=10, **settings)
    return WithLoss(network), dict(x=pictures(size), y=classes())


def swin():
    network = torchvision.models.SwinTransformer(patch_size=[2, 2], embed_dim=24, depths=[2, 2], num_heads=[2, 4],
                                                 window_size=[4, 4], stochastic_depth_prob=0.2, num_classes=10)
    return WithLoss(network), dict(x=pictures(), y=classes())


def convnext():
    block = torchvision.models.convnext.CNBlockConfig
    network = torchvision.models.ConvNeXt([block(24, 48, 1), block(48, None, 1)], stochastic_depth_prob=0.2,
                                          num_classes=10)
    return WithLoss(network), dict(x=pictures(), y=classes())


def vision_transformer():
    network = torchvision.models.VisionTransformer(image_size=32, patch_size=8, num_layers=2, num_heads=4,
                                                   hidden_dim=WIDTH, mlp_dim=96, dropout=0.1, num_classes=10)
    return WithLoss(network), dict(x=pictures(), y=classes())


# ---- torch.nn ---------------------------------------------------------------------------------------------------

class Sequences(nn.Module):
    """Embedding, a recurrent network or a transformer, and a projection."""

    def __init__(self, inner, width):
        super().__init__()
        self.embedding = nn.Embedding(VOCABULARY, WIDTH, padding_idx=0)
        self.inner = inner
        self.projection = nn.Linear(width, VOCABULARY)

    def forward(self, x):
        y = self.embedding(x)
        y = self.inner(y, y) if isinstance(self.inner, nn.Transformer) else self.inner(y)
        y = y[0] if isinstance(y, tuple) else y
        return F.nll_loss(F.log_softmax(self.projection(y), -1).view(-1, VOCABULARY), x.view(-1))


def sequences(inner, width=WIDTH):
    return Sequences(inner, width), dict(x=tokens())


class Volumes(nn.Module):
    """Convolutions of one and three dimensions, transposed ones, norms, pools and activations."""

    def __init__(self):
        super().__init__()
        self.solid = nn.Sequential(nn.Conv3d(2, 6, 3, padding=1), nn.GroupNorm(3, 6), nn.ELU(), nn.MaxPool3d(2),
                                   nn.ConvTranspose3d(6, 4, 2, stride=2), nn.InstanceNorm3d(4, affine=True))
        self.line = nn.Sequential(nn.Conv1d(4, 8, 5, padding=2, groups=2), nn.BatchNorm1d(8), nn.Softplus(),
                                  nn.AvgPool1d(2), nn.ConvTranspose1d(8, 5, 4, stride=2), nn.PReLU(),
                                  nn.Upsample(scale_factor=2, mode="linear"), nn.Hardswish())

    def forward(self, x):
        y = self.solid(x)
        y = self.line(y.flatten(2))
        return F.smooth_l1_loss(y, torch.ones_like(y)) + F.huber_loss(y.mean(2), y.amax(2).detach())


class Autoencoder(nn.Module):
    """Skips, nearest and bilinear resizing, padding, pixel shuffle, and a loss of probabilities."""

    def __init__(self):
        super().__init__()
        self.down = nn.Conv2d(3, 8, 3, stride=2, padding=1)
        self.middle = nn.Sequential(nn.ReflectionPad2d(1), nn.Conv2d(8, 16, 3), nn.InstanceNorm2d(16),
                                    nn.LeakyReLU(0.1), nn.Dropout2d(0.2), nn.PixelShuffle(2))
        self.up = nn.ConvTranspose2d(12, 3, 2, stride=1, padding=1)

    def forward(self, x):
        a = F.relu(self.down(x), inplace=True)
        b = self.middle(a)
        c = F.interpolate(b, size=a.shape[2:], mode="bilinear", align_corners=False)
        d = torch.cat([a, c], 1)
        e = F.interpolate(self.up(d), size=x.shape[2:], mode="nearest")
        return F.binary_cross_entropy_with_logits(e, torch.sigmoid(x)) + F.mse_loss(torch.tanh(e), x)


class Recommender(nn.Module):
    """Bags of embeddings, crossings, a masked softmax filled in place, ties of sort and topk."""

    def __init__(self):
        super().__init__()
        self.bag = nn.EmbeddingBag(VOCABULARY, 24, mode="mean")
        self.table = nn.Embedding(VOCABULARY, 24)
        self.deep = nn.Sequential(nn.Linear(24, 40), nn.ReLU(), nn.Dropout(0.3), nn.Linear(40, 24), nn.SELU())
        self.register_buffer("seen", torch.zeros(VOCABULARY))

    def forward(self, x):
        bags = self.bag(x)
        rows = self.table(x)
        crossed = torch.einsum("be,bne->bn", self.deep(bags), rows)
        filled = torch.zeros_like(crossed)
        filled[:, ::2] = crossed[:, ::2]
        filled.masked_fill_(x.eq(0), float("-inf"))
        best = filled.topk(5, dim=1)
        order = torch.argsort(x, dim=1)
        nearest = torch.gather(crossed, 1, order)[:, :5]
        self.seen.index_add_(0, x.flatten(), torch.ones(x.numel(), dtype=self.seen.dtype))
        common = torch.mode(x, dim=1).indices
        median = x.median(dim=1).indices
        weights = F.softmax(filled, 1) * (common + median + 1).unsqueeze(1)
        return ((best.values - nearest) ** 2).clamp(max=100).mean() + (weights @ rows.sum(2).t()).abs().mean()


class Edges(nn.Module):
    """Calls whose records are easily misread: ties, masks over zeros, calls that return their input, views changed
    in place, buffers from empty, APIs of several autograd nodes."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(6, 5)
        self.weight = nn.Parameter(torch.randn(3, 6))
        self.norm = nn.InstanceNorm1d(3)

    def ties(self, x):
        steps = (x * 2).round()
        values, _ = steps.sort(dim=1)
        top = torch.topk(steps, 3, dim=-1).values
        third = torch.kthvalue(steps, 2, dim=0).values
        often = torch.mode(steps, -1).values
        middle = torch.median(steps, dim=1).values
        largest, _ = torch.max(steps, dim=1)
        torch.argsort(steps, dim=1, descending=True)
        torch.argsort(steps, dim=1, stable=True)
        torch.argmax(steps, dim=0)
        torch.argmin(steps)
        torch.cummax(steps, dim=1)
        parts = (values, top, third, often, middle, largest)
        return sum((part.float() * (i + 1)).sum() for i, part in enumerate(parts))

    def returned(self, x):
        y = (x * 3).to(x.dtype).contiguous().flatten(0, 0)
        y = F.dropout(y, 0.5, training=False).type_as(x)
        z = torch.cat([torch.empty(0, dtype=x.dtype), y.t().contiguous()], -1)
        return z.float().flatten().sum()

    def changed_in_place(self, x):
        buffer = torch.empty(4, 6, dtype=x.dtype)
        buffer[:2] = x[0, :2]
        buffer[2:] = 1
        y = (x * 1.0)[0]
        y.mul_(2).add_(buffer[:3])
        row = y[0]
        row.neg_()
        y[1].relu_()
        filled = buffer.masked_fill_(buffer > 1, 0.5)
        return (y.float() ** 2).sum() + filled.float().sum()

    def several_nodes(self, x):
        wide = self.linear(x)
        classes = torch.arange(3).remainder(5)
        losses = [F.cross_entropy(wide[0], classes), F.cross_entropy(wide[0], classes, label_smoothing=0.1),
                  F.cross_entropy(wide[0], torch.softmax(wide[1].detach(), -1)),
                  F.cross_entropy(wide.transpose(1, 2), classes.expand(2, 3), reduction="sum"),
                  F.l1_loss(wide, torch.zeros_like(wide)), F.linear(x[0], self.weight).sum(),
                  F.kl_div(F.log_softmax(wide, -1), F.softmax(wide.detach(), -1), reduction="batchmean")]
        product = torch.matmul(x, self.weight.t()) @ wide.transpose(1, 2).transpose(1, 2)
        attended = F.scaled_dot_product_attention(x[:, None], x[:, None], x[:, None], dropout_p=0.2)
        mixed = torch.einsum("bsf,bsf->bs", x, x * 2)
        pooled = F.avg_pool1d(F.max_pool1d(x, 2), 2) + F.softsign(x).sum() + F.tanhshrink(x).sum()
        others = (product, attended, self.norm(x), mixed, pooled, torch.outer(x[0, 0], x[0, 1]), F.normalize(x, dim=-1))
        return sum(loss.float() for loss in losses) + sum(part.float().pow(2).sum() for part in others)

    def forward(self, x):
        dropped = F.dropout(F.relu(x), 0.4)
        loss = self.ties(x) + self.returned(x[0]) + self.changed_in_place(x) + self.several_nodes(x)
        return loss + dropped.float().sum() + F.dropout2d(x[:, :, None], 0.3).float().sum()


def attention_block():
    layer = nn.TransformerEncoderLayer(WIDTH, 4, 64, dropout=0.1, activation="gelu", batch_first=True)
    return sequences(nn.TransformerEncoder(layer, 2))


ZOO = {
    "gpt2": lambda: language("GPT2Config", "GPT2LMHeadModel", n_layer=2, n_embd=WIDTH, n_head=4,
                             vocab_size=VOCABULARY, n_positions=64, bos_token_id=0, eos_token_id=0),
    "llama": lambda: language("LlamaConfig", "LlamaForCausalLM", num_key_value_heads=2, **DECODER),
    "qwen2": lambda: unmasked("Qwen2Config", "Qwen2ForCausalLM", num_key_value_heads=2, **DECODER),
    "qwen3": lambda: unmasked("Qwen3Config", "Qwen3ForCausalLM", num_key_value_heads=2, head_dim=12, **DECODER),
    "gemma2": lambda: unmasked("Gemma2Config", "Gemma2ForCausalLM", num_key_value_heads=2, head_dim=12, **DECODER),
    "mixtral": lambda: unmasked("MixtralConfig", "MixtralForCausalLM", num_key_value_heads=2, num_local_experts=4,
                                num_experts_per_tok=2, output_router_logits=True, **DECODER),
    "deepseek": lambda: unmasked("DeepseekV3Config", "DeepseekV3ForCausalLM", num_key_value_heads=4,
                                 n_routed_experts=4, num_experts_per_tok=2, n_group=2, topk_group=1,
                                 moe_intermediate_size=40, first_k_dense_replace=1, q_lora_rank=32, kv_lora_rank=16,
                                 qk_rope_head_dim=8, qk_nope_head_dim=8, v_head_dim=12, **DECODER),
    "phi": lambda: unmasked("PhiConfig", "PhiForCausalLM", **DECODER),
    "gpt_neox": lambda: unmasked("GPTNeoXConfig", "GPTNeoXForCausalLM", **DECODER),
    "bloom": lambda: language("BloomConfig", "BloomForCausalLM", hidden_size=WIDTH, n_layer=2, n_head=4,
                              vocab_size=VOCABULARY),
    "opt": lambda: language("OPTConfig", "OPTForCausalLM", hidden_size=WIDTH, ffn_dim=64, num_hidden_layers=2,
                            num_attention_heads=4, vocab_size=VOCABULARY, max_position_embeddings=64,
                            word_embed_proj_dim=WIDTH, pad_token_id=0, bos_token_id=0, eos_token_id=0),
    "mamba": lambda: unmasked("MambaConfig", "MambaForCausalLM", hidden_size=WIDTH, num_hidden_layers=2,
                              vocab_size=VOCABULARY, state_size=8),
    "bert": lambda: language("BertConfig", "BertForMaskedLM", **ENCODER),
    "roberta": lambda: language("RobertaConfig", "RobertaForMaskedLM", **ENCODER),
    "electra": lambda: language("ElectraConfig", "ElectraForMaskedLM", embedding_size=32, **ENCODER),
    "distilbert": lambda: language("DistilBertConfig", "DistilBertForMaskedLM", dim=WIDTH, hidden_dim=64, n_layers=2,
                                   n_heads=4, vocab_size=VOCABULARY, max_position_embeddings=64),
    "t5": lambda: language("T5Config", "T5ForConditionalGeneration", d_model=WIDTH, d_ff=64, d_kv=12, num_layers=2,
                           num_heads=4, vocab_size=VOCABULARY, decoder_start_token_id=0, pad_token_id=0),
    "bart": lambda: language("BartConfig", "BartForConditionalGeneration", d_model=WIDTH, encoder_layers=1,
                             decoder_layers=1, encoder_attention_heads=4, decoder_attention_heads=4,
                             encoder_ffn_dim=64, decoder_ffn_dim=64, vocab_size=VOCABULARY,
                             max_position_embeddings=64, pad_token_id=0, bos_token_id=0, eos_token_id=0,
                             decoder_start_token_id=0),
    "vit": lambda: vision("ViTConfig", "ViTForImageClassification", hidden_size=WIDTH, num_hidden_layers=2,
                          num_attention_heads=4, intermediate_size=64, image_size=32, patch_size=8),
    "segformer": lambda: vision("SegformerConfig", "SegformerForImageClassification", hidden_sizes=[16, 24, 32, 48],
                                depths=[1, 1, 1, 1], decoder_hidden_size=32),
    "whisper": whisper,
    "clip": clip,
    "wav2vec2": wav2vec,
    "resnet": resnet,
    "mobilenet_v3": lambda: named("mobilenet_v3_small", size=64, width_mult=0.25),
    "shufflenet": lambda: named("shufflenet_v2_x0_5", size=64),
    "squeezenet": lambda: named("squeezenet1_1", size=64),
    "swin": swin,
    "convnext": convnext,
    "tv_vit": vision_transformer,
    "transformer": lambda: sequences(nn.Transformer(WIDTH, 4, 1, 1, 64, batch_first=True)),
    "encoder": attention_block,
    "lstm": lambda: sequences(nn.LSTM(WIDTH, 32, 2, batch_first=True, bidirectional=True), 64),
    "gru": lambda: sequences(nn.GRU(WIDTH, 32, 1, batch_first=True), 32),
    "volumes": lambda: (Volumes(), dict(x=torch.randn(BATCH, 2, 4, 6, 8))),
    "autoencoder": lambda: (Autoencoder(), dict(x=pictures(16))),
    "edges": lambda: (Edges(), dict(x=torch.randn(2, 3, 6, requires_grad=True))),
    "recommender": lambda: (Recommender(), dict(x=tokens())),
}
