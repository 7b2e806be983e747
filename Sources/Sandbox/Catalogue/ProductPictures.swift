import HTTPTypes

/// The host of the products' pictures, with what such hosts do: a page in place of a picture, nothing, a redirect, a
/// redirect elsewhere.
struct ProductPictures: Sendable {
    let seed: UInt64

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let path = Array(request.path.dropFirst())
        guard request.method == .get || request.method == .head else {
            return .text(.methodNotAllowed, "Method Not Allowed")
        }
        switch (path.first, path.count) {
        case ("sign-in.jpg", 1):
            return UpstreamResponse(
                status: .ok,
                headers: [.contentType: "text/html; charset=utf-8"],
                body: Array("<!DOCTYPE html>\n<title>Sign in</title>\n".utf8)
            )
        case ("moved", 2):
            return redirect(to: "\(request.origin)/catalogue/images/\(path[1])")
        case ("elsewhere", 2):
            // A name that is reserved and never resolves (RFC 2606).
            return redirect(to: "https://pictures.example/\(path[1])")
        case ("inside", 2):
            // Where no picture of a catalogue may lead to: the services of the machine itself.
            return redirect(to: "http://127.0.0.1:9/\(path[1])")
        case (.some(let name), 1) where Self.isPictureName(name):
            let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "public, max-age=86400"]
            return UpstreamResponse(status: .ok, headers: fields, body: ProductPicture.png(name: name, seed: seed))
                .conditional(
                    on: request
                )
        default:
            return .text(.notFound, "Not Found")
        }
    }

    private func redirect(to location: String) -> UpstreamResponse {
        var response = UpstreamResponse.text(.found, "Found")
        response.headers[.location] = location
        return response
    }

    /// Any such name has a picture, so that a product added by a test has one as well; `missing.png` has none.
    private static func isPictureName(_ name: String) -> Bool {
        guard name.hasSuffix(".png"), name.utf8.count <= 68, name != "missing.png" else { return false }
        let stem = name.dropLast(4)
        return !stem.isEmpty
            && stem.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
