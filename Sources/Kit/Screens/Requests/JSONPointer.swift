/// JSON pointers (RFC 6901) into the bodies that clients send.
enum JSONPointer {
    /// Returns a name as part of a pointer, as long as a message may have it.
    static func token(_ name: String) -> String {
        UploadedForm.legible(name).replacing("~", with: "~0").replacing("/", with: "~1")
    }
}
