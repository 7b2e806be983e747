import HTTPSemantics
import Testing

@Suite("Content-Disposition (RFC 6266)")
struct ContentDispositionTests {
    @Test("A name is written in ASCII and in the form of RFC 8187; without one there is the type alone")
    func value() {
        #expect(
            ContentDisposition.value("attachment", fileName: "a/b \"ж\".pdf")
                == "attachment; filename=\"a_b ___.pdf\"; filename*=UTF-8''a%2Fb%20%22%D0%B6%22.pdf"
        )
        #expect(ContentDisposition.value("inline", fileName: nil) == "inline")
        #expect(ContentDisposition.value("inline", fileName: "") == "inline")
    }
}
