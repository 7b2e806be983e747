import HTTPTypes
import MediaFormats
package import Upstream

extension Resource {
    /// Returns the resource of a picture, wherever an upstream says that it is.
    ///
    /// Only bodies that are a whole picture are stored. Pictures do not change, so a stored one never becomes stale.
    /// - Parameters:
    ///   - url: Absolute URL.
    ///   - maximumBytes: Largest picture that is accepted, in bytes; nil for the upstream's limit.
    package static func picture(at url: String, maximumBytes: Int? = nil) -> Resource {
        var resource = Resource(
            url: url,
            headerFields: [.accept: "image/*"],
            freshness: nil,
            validate: { response throws(UpstreamError) in
                guard PictureType(of: response.body) != nil else {
                    throw .badResponse(status: response.status, reason: "not a picture")
                }
                guard PictureFormat.isComplete(response.body) else {
                    throw .badResponse(status: response.status, reason: UpstreamError.cutShort)
                }
                if let maximumBytes, response.body.count > maximumBytes {
                    throw .badResponse(
                        status: response.status,
                        reason: "a picture of over \(maximumBytes >> 10) KiB"
                    )
                }
                return .none
            }
        )
        resource.isPicture = true
        return resource
    }
}
