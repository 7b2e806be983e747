import HTTPTypes

/// The host of the ships' pictures. Besides pictures it has what such hosts do: a page in place of a picture, nothing,
/// a redirect, a redirect elsewhere.
struct ShipPictures: Sendable {
    let seed: UInt64

    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let path = Array(request.path.dropFirst())
        switch (path[0], path.count) {
        case ("showphoto.aspx", 1):
            return UpstreamResponse(
                status: .ok,
                headers: [.contentType: "text/html; charset=utf-8"],
                body: Array(Self.page.utf8)
            )
        case ("moved", 2):
            return redirect(to: "\(request.origin)/spacex/images/\(path[1])")
        case ("elsewhere", 2):
            // A name that is reserved and never resolves (RFC 2606).
            return redirect(to: "https://pictures.example/\(path[1])")
        case ("missing.png", 1):
            return .text(.notFound, "Not Found")
        case (let name, 1) where Self.isPictureName(name):
            let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "public, max-age=86400"]
            return UpstreamResponse(status: .ok, headers: fields, body: ShipPicture.png(name: name, seed: seed))
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

    /// Any such name has a picture, so that a ship added by a test has one as well.
    private static func isPictureName(_ name: String) -> Bool {
        guard name.hasSuffix(".png"), name.utf8.count <= 68 else { return false }
        let stem = name.dropLast(4)
        return !stem.isEmpty
            && stem.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
            }
    }

    private static let page =
        "<!DOCTYPE html>\n<html><head><title>Ship photo</title></head><body><p>Please sign in to see this photo.</p></body></html>\n"
}
