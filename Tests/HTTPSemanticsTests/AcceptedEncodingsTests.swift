import HTTPSemantics
import Testing

@Suite("Accept-Encoding (RFC 9110 §12.5.3)")
struct AcceptedEncodingsTests {
    @Test(
        "Clients that take gzip",
        arguments: [
            ["gzip"], ["GZIP"], ["deflate, gzip;q=0.1"], ["*"], ["br", "gzip"], ["x-gzip"], ["gzip ; q=1.0"],
            ["*;q=0, gzip"], ["gzip, identity"], ["gzip;q=0.5, *;q=0.1"],
        ]
    )
    func takes(values: [String]) {
        #expect(AcceptedEncodings.allowGzip(values))
    }

    @Test(
        "Clients that do not",
        arguments: [
            [], [""], ["identity"], ["gzip;q=0"], ["gzip;q=0.000, *"], ["br, deflate"], ["*;q=0"], ["gzipped"],
            ["gzip;q=x"], ["gzip;q=0.5, identity;q=1"], ["gzip;q=0.5, *;q=1"], ["identity, gzip;q=0.9"],
        ]
    )
    func refuses(values: [String]) {
        #expect(!AcceptedEncodings.allowGzip(values))
    }
}
