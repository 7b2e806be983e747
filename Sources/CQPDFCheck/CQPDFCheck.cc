#define POINTERHOLDER_TRANSITION 4
#include "CQPDFCheck.h"

#include <cstring>
#include <exception>
#include <map>
#include <new>
#include <qpdf/Pl_Discard.hh>
#include <qpdf/Pl_QPDFTokenizer.hh>
#include <qpdf/QPDF.hh>
#include <qpdf/QPDFObjectHandle.hh>
#include <qpdf/QPDFPageDocumentHelper.hh>
#include <qpdf/QPDFPageObjectHelper.hh>
#include <qpdf/QPDFTokenizer.hh>
#include <qpdf/QPDFWriter.hh>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

class DiscardedContents : public QPDFObjectHandle::ParserCallbacks {
  public:
    void handleObject(QPDFObjectHandle, size_t, size_t) override {}
    void handleEOF() override {}
};

int damaged(char *reason, size_t capacity, const char *text) {
    std::strncpy(reason, text, capacity - 1);
    reason[capacity - 1] = 0;
    return LARDER_QPDF_DAMAGED;
}

// Collects the resources that operators name, by the category in which a reader looks for them.
class UsedResources : public QPDFObjectHandle::TokenFilter {
  public:
    std::set<std::pair<std::string, std::string>> uses;

    void handleToken(QPDFTokenizer::Token const &token) override {
        static const std::map<std::string, std::string> categories = {
            {"Do", "/XObject"},     {"Tf", "/Font"},        {"gs", "/ExtGState"},   {"sh", "/Shading"},
            {"CS", "/ColorSpace"},  {"cs", "/ColorSpace"},  {"SCN", "/Pattern"},    {"scn", "/Pattern"},
            {"BDC", "/Properties"}, {"DP", "/Properties"},
            // Of a picture within the content, the entries are operands.
            {"ID", "/ColorSpace"},
        };
        if (token.getType() == QPDFTokenizer::tt_name) operands.push_back(token.getValue());
        if (token.getType() != QPDFTokenizer::tt_word) return;
        auto category = categories.find(token.getValue());
        if (category != categories.end())
            for (auto &name : operands) uses.emplace(category->second, name);
        operands.clear();
    }

  private:
    std::vector<std::string> operands;
};

}  // namespace

extern "C" int larder_qpdf_check(const char *path, char *reason, size_t capacity) {
    reason[0] = 0;
    try {
        QPDF pdf;
        pdf.setSuppressWarnings(true);
        pdf.processFile(path);
        DiscardedContents contents;
        for (auto &page : QPDFPageDocumentHelper(pdf).getAllPages()) page.parseContents(&contents);
        QPDFWriter writer(pdf);
        Pl_Discard discard;
        writer.setOutputPipeline(&discard);
        writer.setDecodeLevel(qpdf_dl_all);
        writer.write();
        auto warnings = pdf.getWarnings();
        return warnings.empty() ? LARDER_QPDF_WHOLE
                                : damaged(reason, capacity, warnings.front().getMessageDetail().c_str());
    } catch (const std::bad_alloc &) {
        return LARDER_QPDF_OUT_OF_MEMORY;
    } catch (const std::exception &error) {
        return damaged(reason, capacity, error.what());
    }
}

extern "C" int larder_qpdf_used_resources(
    const unsigned char *content, size_t length, larder_qpdf_use use, void *context) {
    try {
        UsedResources resources;
        Pl_QPDFTokenizer tokens("content", &resources);
        tokens.write(content, length);
        tokens.finish();
        for (auto &found : resources.uses) use(context, found.first.c_str(), found.second.c_str());
        return LARDER_QPDF_WHOLE;
    } catch (const std::bad_alloc &) {
        return LARDER_QPDF_OUT_OF_MEMORY;
    } catch (const std::exception &) {
        return LARDER_QPDF_DAMAGED;
    }
}
