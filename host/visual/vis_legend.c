#include "host/visual/vis_legend.h"

#include <string.h>

#include "io/text/json_write.h"

/* The plugin's users read these; they are the original's, to the letter. */
#define SHARE_TIP                                                                                                                    \
    "Tensor中的元素逐个与对应的标杆数据对比，相对误差小于千分之一的比例占总元素个数的比例，" \
    "比例越接近1越好"

struct tip {
    const char *column, *text;
};

static const struct tip statistic_tips[] = {
    {"Max diff", "NPU与标杆API统计信息比对，最大值的差值"},
    {"Min diff", "NPU与标杆API统计信息比对，最小值的差值"},
    {"Mean diff", "NPU与标杆API统计信息比对，平均值的差值"},
    {"L2norm diff", "NPU与标杆API统计信息比对，2范数（平方根）的差值"},
};

static const struct tip digest_tips[] = {
    {"md5", "数据MD5信息，用于比较两个数据信息是否完全一致"},
};

static const struct tip tensor_tips[] = {
    {"One Thousandth Err Ratio", SHARE_TIP},
    {"Five Thousandths Err Ratio",
     "Tensor中的元素逐个与对应的标杆数据对比，相对误差小于千分之五的比例占总元素个数的比例，"
     "比例越接近1越好"},
    {"Cosine",
     "通过计算两个向量的余弦值来判断其相似度，数值越接近于1说明计算出的两个张量越相似，"
     "实际可接受阈值为大于0.99。在计算中可能会存在nan，主要由于可能会出现其中一个向量为0"},
    {"MaxAbsErr", "当最大绝对误差越接近0表示其计算的误差越小，实际可接受阈值为小于0.001"},
    {"MaxRelativeErr",
     "当最大相对误差越接近0表示其计算的误差越小。"
     "当dump数据中存在0或Nan时，比对结果中最大相对误差则出现inf或Nan的情况，属于正常现象"},
};

#define STATISTIC_COLOURS                                                                                        \
    "此节点所有输入输出的统计量相对误差, 值越大代表测量值与标杆值的偏差越大, " \
    "相对误差计算方式:|(测量值-标杆值)/标杆值|"
#define TENSOR_COLOURS                                                                                            \
    "此节点所有输入的最小双千分之一和所有输出的最小双千分之一的差值的绝对值, " \
    "代表双千指标的变化情况, 值越大代表测量值与标杆值的偏差越大, "                    \
    "双千分之一指标计算方式：" SHARE_TIP

struct colour {
    const char *colour, *range, *text;
};

static const struct colour statistic_colours[] = {
    {"#FFFCF3", "[0, 0.2]", STATISTIC_COLOURS},   {"#FFEDBE", "[0.2, 0.4]", STATISTIC_COLOURS},
    {"#FFDC7F", "[0.4, 0.6]", STATISTIC_COLOURS}, {"#FFC62E", "[0.6, 0.8]", STATISTIC_COLOURS},
    {"#FF704D", "[0.8, 1]", STATISTIC_COLOURS},
};

static const struct colour tensor_colours[] = {
    {"#FFFCF3", "[0, 0.05]", TENSOR_COLOURS},   {"#FFEDBE", "[0.05, 0.1]", TENSOR_COLOURS},
    {"#FFDC7F", "[0.1, 0.15]", TENSOR_COLOURS}, {"#FFC62E", "[0.15, 0.2]", TENSOR_COLOURS},
    {"#FF704D", "[0.2, 1]", TENSOR_COLOURS},
};

static const struct colour digest_colours[] = {
    {"#FFFCF3", "[1, 1]", "与标杆相比, 此节点所有输入输出的md5值相同"},
    {"#FF704D", "[0, 0]", "与标杆相比, 此节点任意输入输出的md5值不同"},
};

static const struct colour unmatched = {"#C7C7C7", "[]", "比对过程中节点未匹配上"};

#define COUNT(array) (sizeof(array) / sizeof *(array))

const char *tdc_vis_task_name(enum tdc_vis_mode mode)
{
    static const char *const names[] = {[TDC_VIS_STATISTICS] = "summary",
                                        [TDC_VIS_DIGESTS] = "md5",
                                        [TDC_VIS_TENSORS] = "all",
                                        [TDC_VIS_STRUCTURE] = "structure"};
    return names[mode];
}

static void put(struct tdc_text *out, const char *text)
{
    tdc_json_put_text(out, text, strlen(text));
}

void tdc_vis_tool_tip(struct tdc_text *out, enum tdc_vis_mode mode)
{
    const struct tip *tips = tensor_tips;
    size_t count = COUNT(tensor_tips);
    if (mode == TDC_VIS_STATISTICS) {
        tips = statistic_tips;
        count = COUNT(statistic_tips);
    } else if (mode == TDC_VIS_DIGESTS) {
        tips = digest_tips;
        count = COUNT(digest_tips);
    }
    tdc_text_addc(out, '{');
    for (size_t i = 0; i < count; i++) {
        tdc_text_adds(out, i == 0 ? "" : ", ");
        put(out, tips[i].column);
        tdc_text_adds(out, ": ");
        put(out, tips[i].text);
    }
    tdc_text_addc(out, '}');
}

static void put_colour(struct tdc_text *out, const struct colour *colour)
{
    put(out, colour->colour);
    tdc_text_addf(out, ": {\"value\": %s, \"description\": ", colour->range);
    put(out, colour->text);
    tdc_text_addc(out, '}');
}

void tdc_vis_colours(struct tdc_text *out, enum tdc_vis_mode mode)
{
    const struct colour *colours = NULL;
    size_t count = 0;
    if (mode == TDC_VIS_STATISTICS) {
        colours = statistic_colours;
        count = COUNT(statistic_colours);
    } else if (mode == TDC_VIS_TENSORS) {
        colours = tensor_colours;
        count = COUNT(tensor_colours);
    } else if (mode == TDC_VIS_DIGESTS) {
        colours = digest_colours;
        count = COUNT(digest_colours);
    }
    tdc_text_addc(out, '{');
    for (size_t i = 0; i < count; i++) {
        put_colour(out, &colours[i]);
        tdc_text_adds(out, ", ");
    }
    put_colour(out, &unmatched);
    tdc_text_addc(out, '}');
}
