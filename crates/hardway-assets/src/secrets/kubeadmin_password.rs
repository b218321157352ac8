//! The password of the first user, `kubeadmin`.

use super::Random;

/// 23 characters in the shape 5-5-5-5. The OAuth server refuses anything shorter (library-go
/// `bootstrapauthenticator`); the alphabet leaves out what is easily misread (installer `asset/password`).
pub fn kubeadmin_password(random: &Random) -> String {
    const ALPHABET: &[u8] = b"abcdefghijkmnopqrstuvwxyzABCDEFGHIJKLMNPQRSTUVWXYZ23456789";
    let groups: Vec<String> = (0..4).map(|_| random.text(ALPHABET, 5)).collect();
    groups.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_shape_the_oauth_server_wants() {
        let password = kubeadmin_password(&Random::default());
        assert_eq!(password.len(), 23);
        for (i, c) in password.chars().enumerate() {
            match i {
                5 | 11 | 17 => assert_eq!(c, '-'),
                _ => assert!(c.is_ascii_alphanumeric() && !"lO01".contains(c), "{c}"),
            }
        }
    }
}
