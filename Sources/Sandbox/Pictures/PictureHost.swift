import HTTPTypes

/// A host of generated pictures that also does what such hosts do: a page in place of a picture, 404, redirects to
/// itself and to other hosts.
struct PictureHost: Sendable {
    /// Path of the pictures below the sandbox's origin, such as `/spacex/images`.
    let path: String
    /// A name that has a page of HTML in place of a picture.
    let page: (name: String, html: String)
    /// Whether names below `inside` redirect to the sandbox's machine itself.
    let redirectsInside: Bool
    /// Returns the PNG file of a name.
    let picture: @Sendable (_ name: String) -> [UInt8]

    /// Responds to a request whose path begins with the host's own part.
    func respond(to request: UpstreamRequest) -> UpstreamResponse {
        let path = Array(request.path.dropFirst())
        guard let name = path.last else { return Self.notFound }
        switch (path[0], path.count) {
        case (page.name, 1):
            let fields: HTTPFields = [.contentType: "text/html; charset=utf-8"]
            return UpstreamResponse(status: .ok, headers: fields, body: Array(page.html.utf8))
        case ("moved", 2):
            return redirect(to: "\(request.origin)\(self.path)/\(name)")
        case ("elsewhere", 2):
            // A name that is reserved and never resolves (RFC 2606).
            return redirect(to: "https://pictures.example/\(name)")
        case ("inside", 2) where redirectsInside:
            // The services of the machine itself, to which no picture of a catalogue may lead.
            return redirect(to: "http://127.0.0.1:9/\(name)")
        case (_, 1) where Self.isPictureName(name):
            let fields: HTTPFields = [.contentType: "image/png", .cacheControl: "public, max-age=86400"]
            return UpstreamResponse(status: .ok, headers: fields, body: picture(name)).conditional(on: request)
        default:
            return Self.notFound
        }
    }

    private static var notFound: UpstreamResponse { .text(.notFound, "Not Found") }

    private func redirect(to location: String) -> UpstreamResponse {
        var response = UpstreamResponse.text(.found, "Found")
        response.headers[.location] = location
        return response
    }

    /// Any such name has a picture, so that an item added by a test has one as well; `missing.png` has none.
    private static func isPictureName(_ name: String) -> Bool {
        guard name.hasSuffix(".png"), name.utf8.count <= 68, name != "missing.png" else { return false }
        let stem = name.dropLast(4)
        return !stem.isEmpty
            && stem.utf8.allSatisfy {
                (0x30...0x39).contains($0) || (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}
