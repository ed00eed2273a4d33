#include "host/analysis/gradient/similarity_plot.h"

#include <math.h>

enum {
    WIDTH = 640,
    HEIGHT = 400,
    LEFT = 60,
    RIGHT = 20,
    TOP = 40,
    BOTTOM = 50,
    TICKS = 5
};

static void add_title(struct tdc_text *out, const char *title)
{
    for (; *title != '\0'; title++) {
        if (*title == '<')
            tdc_text_adds(out, "&lt;");
        else if (*title == '&')
            tdc_text_adds(out, "&amp;");
        else if ((unsigned char)*title >= ' ')
            tdc_text_addc(out, *title);
    }
}

static double x_of(size_t place, size_t count)
{
    return count < 2 ? LEFT
                     : LEFT + (double)(WIDTH - LEFT - RIGHT) * (double)place / (double)(count - 1);
}

static double y_of(double value, double lowest)
{
    return TOP + (HEIGHT - TOP - BOTTOM) * (1 - value) / (1 - lowest);
}

static void add_axes(struct tdc_text *out, const long *steps, size_t count, double lowest)
{
    for (int i = 0; i <= TICKS; i++) {
        double value = lowest + (1 - lowest) * i / TICKS;
        tdc_text_addf(out,
                      "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>"
                      "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.3g</text>\n",
                      LEFT, y_of(value, lowest), WIDTH - RIGHT, y_of(value, lowest), LEFT - 6,
                      y_of(value, lowest) + 4, value);
    }
    size_t every = count / 10 + 1;
    for (size_t i = 0; i < count; i += every)
        tdc_text_addf(out, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%ld</text>\n",
                      x_of(i, count), HEIGHT - BOTTOM + 18, steps[i]);
    tdc_text_addf(out,
                  "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">steps</text>\n"
                  "<text x=\"14\" y=\"%d\" text-anchor=\"middle\" "
                  "transform=\"rotate(-90 14 %d)\">similarities</text>\n",
                  (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, HEIGHT / 2, HEIGHT / 2);
}

void tdc_similarity_plot(struct tdc_text *out, const char *title, const long *steps,
                         const double *similarities, size_t count)
{
    double lowest = 0.9;
    for (size_t i = 0; i < count; i++)
        if (similarities[i] < lowest)
            lowest = floor(similarities[i] * 10) / 10;
    tdc_text_addf(out,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "font-family=\"sans-serif\" font-size=\"11\">\n"
                  "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                  "<text x=\"%d\" y=\"22\" text-anchor=\"middle\" font-size=\"14\">",
                  WIDTH, HEIGHT, WIDTH / 2);
    add_title(out, title);
    tdc_text_adds(out, "_similarities</text>\n");
    add_axes(out, steps, count, lowest);
    tdc_text_adds(out, "<polyline fill=\"none\" stroke=\"#1f77b4\" stroke-width=\"1.5\" points=\"");
    for (size_t i = 0; i < count; i++)
        tdc_text_addf(out, "%.1f,%.1f ", x_of(i, count), y_of(similarities[i], lowest));
    tdc_text_adds(out, "\"/>\n");
    for (size_t i = 0; i < count; i++)
        tdc_text_addf(out, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"#1f77b4\"/>\n",
                      x_of(i, count), y_of(similarities[i], lowest));
    tdc_text_adds(out, "</svg>\n");
}
